# SPDX-License-Identifier: BSD-3-Clause
"""Conditions under which the feed-forward of a structure goes on, and the signals that it goes on with."""

import numpy as np

from iap_control.modules.exchange import ModuleReports
from iap_control.modules.feed_forward import FeedForward
from iap_control.modules.settings import ModulesSpec
from iap_control.modules.structure import Structure
from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.states import Q


class JointCompensation:
    """Updates the feed-forward of structures.

    Args:
        spec: of the modules.
        feed_forward: of all of them.
    """

    def __init__(self, spec: ModulesSpec, feed_forward: FeedForward) -> None:
        self._spec, self._feed_forward = spec, feed_forward
        period = 1.0 / spec.rate
        self._wind_share = period / (period + spec.wind_time)

    def __call__(self, structure: Structure, reports: ModuleReports, *, docks: bool) -> None:
        """Update the feed-forward of a structure that carries no module whose motors have stopped.

        Not where it stands on something or is not known to be free. One that carries a module has rotors near their
        limits: they do not give what is asked of them, and what they lack would add up.

        Args:
            structure: of the modules.
            reports: signals of all modules.
            docks: whether one of its modules is docking, so that the force on it may be no wind.
        """
        spec = self._spec
        force_P = reports.external_P[list(structure.modules), :3].mean(axis=0)
        if not np.linalg.norm(force_P) <= spec.standing:
            return
        if spec.wind_time > 0.0 and spec.compensation == "default" and not docks:
            self._push_against(structure, force_P, reports)
        if len(structure.modules) == 1:
            return
        desired = np.array([spec.joints[name].desired for name in structure.joints])
        if spec.wrench_source == "joint":
            none = np.zeros(6)  # of a joint whose latch has caught in this period
            measured = np.array([reports.joint_S.get(name, none) for name in structure.joints])
            self._feed_forward.update_measured(structure, measured, desired)
        else:
            self._feed_forward.update(structure, reports.external_P, desired)

    def _push_against(self, structure: Structure, force_P: Array, reports: ModuleReports) -> None:
        """Let a structure push against the level part of a force (3,) that acts on all its modules."""
        q_WP = reports.estimates[structure.leader, Q]
        wind_P = so3.rotate(so3.conjugate(q_WP), so3.rotate(q_WP, force_P) * [1.0, 1.0, 0.0])
        self._feed_forward.push_against(structure, wind_P, self._wind_share)
