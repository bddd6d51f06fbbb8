"""Refusal of ``ros2 run gait_evolver gait``, which has moved to gait_tools."""

import sys


def main() -> int:
    """Print the new name of the command, and return 2."""
    print('gait: the command has moved; it is now: ros2 run gait_tools gait', file=sys.stderr)
    return 2
