"""Was this person in the table? The likelihood-ratio test for published counts.

From what is asked to what is answered: `question` (settings, checked), `recipe` and `channel` (what becomes of a
count), `reference` (what the adversary watched) or `marginals` (one who watched nobody), `likelihood` and
`weighing` (the score), `groups` and `game` (who is in, who is out), `roc` (how well scores part them),
`run` (the verb). All but the last are numbers in, numbers out.
"""
