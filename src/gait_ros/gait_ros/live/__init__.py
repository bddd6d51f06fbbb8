"""Live controllers: observation, requests for motion, safe output, and their nodes."""
