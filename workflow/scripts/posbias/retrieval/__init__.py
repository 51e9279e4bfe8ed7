"""First-stage search, lexical and dense, and the TREC files it leaves."""
