"""Contrastive training of a retriever on one of the four settings."""
