"""The engine ``cables``: free bodies, force elements and contact nodes."""
