"""The staged walk of the humanoid GuRoo of Pike (2003)."""

from pathlib import Path


def experiments() -> Path:
    """Return the folder of experiments of this study."""
    return Path(__file__).parent / 'experiments'
