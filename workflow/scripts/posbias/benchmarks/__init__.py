"""Test collections whose queries know where their evidence stands."""
