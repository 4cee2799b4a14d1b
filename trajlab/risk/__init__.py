"""Risk: how many people an adversary with a little knowledge could mean.

`run.py` answers one question and stores it; `traces.py` are the traces searched, `reading.py` how they are read,
`traits.py` what is known of people besides. `knowledge/` has one file per kind of knowledge, `crowds/` counts who fits.
"""
