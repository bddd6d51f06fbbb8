"""The controller of a live robot: observation, requests for motion, safe output."""
