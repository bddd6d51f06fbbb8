"""The engine ``mujoco``; the only folder that imports MuJoCo."""
