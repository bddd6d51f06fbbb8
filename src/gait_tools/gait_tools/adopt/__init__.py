"""Robot folders from legged URDFs: legs, joint roles, stance, workspace and doubts."""
