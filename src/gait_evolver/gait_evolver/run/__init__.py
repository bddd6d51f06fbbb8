"""The folder of a run: configuration, log, checkpoint, champion."""
