"""Method library of the replication: pure functions, no workflow engine, no global state."""
