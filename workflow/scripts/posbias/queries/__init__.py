"""Queries with a known target segment: generated, verified by a panel, balanced into settings."""
