"""Files named by a user: bounded reading, atomic writing, archives."""
