"""Liveness of worker processes, their end, and the compilation of kernels."""
