"""Retrievers: bodies, pooling, position encodings, and how they turn text into vectors."""
