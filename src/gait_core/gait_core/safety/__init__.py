"""Safety layer between a live controller and a robot."""
