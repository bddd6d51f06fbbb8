"""Run directories: experiment, log, checkpoint and champion."""
