"""Insect gait: rhythm, motor programs, reflexes."""
