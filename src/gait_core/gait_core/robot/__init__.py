"""Robot models: description, loading, load report."""
