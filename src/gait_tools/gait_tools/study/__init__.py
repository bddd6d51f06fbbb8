"""Reproductions of publications: rows, parts, session and page."""
