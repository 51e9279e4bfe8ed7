"""Signs that stand in tables, without anything that a table needs."""

DASH = "–"
MINUS = "\N{MINUS SIGN}"
