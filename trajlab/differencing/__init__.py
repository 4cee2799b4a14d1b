"""What hidden counts follow from everything that is published together, and the ledger of what is out.

In the order of an audit: `tables` (what each published table says of its counts), `sums` (how tables add up to each
other), `bounds` and `programme` (what follows: intervals, then linear programming; no mobility words), `words` (the
sum that reveals a count), `run` (the verb), `ledger` (what is out, since when).
"""
