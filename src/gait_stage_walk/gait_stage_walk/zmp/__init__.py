"""A walk of any biped with soles: footsteps, a previewed zero-moment point, legs by kinematics."""
