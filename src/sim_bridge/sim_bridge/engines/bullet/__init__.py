"""The engine ``bullet``; the only folder that imports PyBullet."""
