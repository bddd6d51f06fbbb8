"""Base of every node: start, lifecycle, parameters, services, QoS, clock."""
