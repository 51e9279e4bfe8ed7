"""What the embeddings themselves say of positions, without a ranking (retriever study, sec. 6)."""
