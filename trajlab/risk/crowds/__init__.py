"""Crowds: how many lists, sets and sequences of numbers hold what one of them holds. No word on mobility here."""
