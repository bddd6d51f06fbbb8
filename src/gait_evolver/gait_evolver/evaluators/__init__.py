"""Evaluators run trials: in processes of this machine, or on sim_bridge workers."""
