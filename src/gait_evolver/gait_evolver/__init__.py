"""Evolution of gaits and the gait command."""

__version__ = '0.1.0'
