"""Studies as data: rows, parts, session, page."""
