"""nDCG per position group, PSI and their intervals."""
