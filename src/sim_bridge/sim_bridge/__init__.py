"""Physics engines behind one contract."""
