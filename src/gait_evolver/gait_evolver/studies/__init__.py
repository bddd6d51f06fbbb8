"""Published studies: a module each, registered as ``gait.studies``."""
