"""Coulomb's law for sliding contacts, which MuJoCo's convex problem alone does not keep."""

from __future__ import annotations

from typing import Any

import numpy as np

from gait_core.scene import Scene
from sim_bridge.engines.mujoco_options import MujocoOptions


class Coulomb:
    """
    Corrects the normal references of contacts that slide.

    MuJoCo makes friction convex: of a contact that slides at speed ``v`` it asks not that it stay
    closed but that it open at ``friction * v``, and a sliding box hops. Lowering the normal
    reference by just that speed restores the law (the change of variables of de Saxce and Feng).
    The speed is that at the start of the step, so a contact that begins to stick sinks in for
    one step by ``friction * v * step``.

    References
    ----------
    de Saxce and Feng (1998), Mathematical and Computer Modelling 28:225-245.

    """

    def __init__(self, data: Any, scene: Scene, options: MujocoOptions) -> None:
        self._data = data
        # MuJoCo's damping of a contact, times the friction.
        self._rate = scene.friction / (scene.physics_step * options.contact_impedance)

    def correct(self) -> None:
        """Write the references of a physics step whose first half is done."""
        data = self._data
        # Contacts have the last rows, three each: along the normal and two tangents.
        first = data.ne + data.nf + data.nl
        if data.nefc > first and self._rate > 0.0:
            speed = data.efc_vel[first:].reshape(-1, 3)
            slide = np.hypot(speed[:, 1], speed[:, 2])
            data.efc_aref[first::3] -= self._rate * slide
