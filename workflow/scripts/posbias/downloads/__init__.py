"""Models and data of the hub: fetched once by commit, or taken from a folder, then checked."""
