"""Common parts of all nodes: process, lifecycle, parameters, services, QoS and clock."""
