"""From any legged URDF to a robot folder: legs, joint roles, stance, workspace, doubts."""
