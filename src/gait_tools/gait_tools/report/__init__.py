"""One self-contained page about a run or a champion; works without network."""
