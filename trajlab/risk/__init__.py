"""Risk: how many people an adversary with a little knowledge could mean.

`run.py` asks one question and keeps its answer; `traces.py` are the traces it is asked of, `traits.py` what is known of
people besides. `knowledge/` has one file per kind of knowledge, `crowds/` counts who fits.
"""
