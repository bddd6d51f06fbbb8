"""Self-contained page about a run or a champion, which works without a network."""
