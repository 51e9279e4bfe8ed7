"""Listwise reranking and its position bias (DebiasFirst, arXiv 2604.03642)."""
