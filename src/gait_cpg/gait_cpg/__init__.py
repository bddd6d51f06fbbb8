"""Central pattern generators."""
