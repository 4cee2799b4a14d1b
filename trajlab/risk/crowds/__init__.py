"""Crowds: how many lists, sets and sequences of numbers hold what one of them holds.

No word on mobility and no store here, as in `trajlab.matching`: rows, items, keys and holders alone.
"""
