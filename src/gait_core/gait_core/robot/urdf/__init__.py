"""URDF: reading, writing, XML sources and meshes."""
