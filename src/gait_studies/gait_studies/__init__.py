"""Published studies: one folder each, registered as ``gait.studies``."""
