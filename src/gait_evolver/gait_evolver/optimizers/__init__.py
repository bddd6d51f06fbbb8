"""Optimisers behind ask and tell; each is reached by its registered name."""
