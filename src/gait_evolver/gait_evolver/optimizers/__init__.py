"""Optimisers with ask and tell, selected by registered name."""
