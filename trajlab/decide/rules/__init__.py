"""Rules that a policy may have: one file each, with a frozen dataclass named `RULE` at the end."""
