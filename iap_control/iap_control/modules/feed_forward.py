# SPDX-License-Identifier: BSD-3-Clause
r"""Feed-forward that takes the wrench out of a structure's joints, after beatle (41)-(44).

With the potential y of `joint_wrench`, the wrenches of joints along the way from the leader L to module i sum up to

.. math::
    S_i = (y - y_{des})_i - (y - y_{des})_L,

which is sum_{j=L+1..i} (W_j - W_{j,des}) to the right of L in a chain, and to its left the same sum from i+1 to L, less
than zero. Every 1/40 s, W_ff,i += k S_i. The leader has W_ff,L = 0, and its integral carries what all have in common.

The longer a chain, the more each joint sums up: what y makes of W_ext grows with 1 / lambda, the inverse of the
structure's connectivity (n^2 / pi^2 in a long chain). With the observer behind 1 / (1 + s / K_I) and rotors behind
1 / (1 + s T), the loop is stable while 40 k / lambda < K_I + 1 / T: at k = 0.2, K_I = 3 and T = 0.05 s up to five
modules only. Hence k is multiplied by lambda where that is below one: from four modules on. What a period adds stays
below a limit besides: the observer tells its velocity's noise as K_I m n_v, which feed-forward adds up, the less of it
the slower it is. No structure is slower by it than eight in a chain, which are at k lambda = 0.03.

What all modules feel alike, a wind, is in print the business of the leader's integral, which takes long.
Here each module pushes against its own part of the level force, low-passed, so that no joint passes it on.

Printed (44) assigns W_ff, which is its change: assigned, it only halves the wrench. The compensation `printed`
accumulates with the sign that (40) has in print: positive feedback, by which a structure flies apart within seconds.
"""

import numpy as np

from iap_control.modules.bearing import Lift, evened, shares
from iap_control.modules.exchange import ModuleReports
from iap_control.modules.joint_wrench import moved_to, potential, potential_of_joints
from iap_control.modules.settings import Compensation, ModulesSpec
from iap_control.modules.structure import Structure
from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.states import Q

SIGNS = {"none": 0.0, "printed": -1.0, "default": 1.0}


def increments(structure: Structure, y: Array, desired_S: Array, lever: float) -> Array:
    """S_i (n, 6) about each module's own CoM, axes of S, less the leader's; none of lost modules.

    Args:
        structure: of n modules and m joints.
        y: (n, 6) potential of the wrenches that joints bear, about the GCoS.
        desired_S: (m, 6) wrenches that they shall bear on their modules b, each about its joint's place [N, N m].
        lever: of rotors, see `Lift`.
    """
    excess = y - potential_of_joints(structure, desired_S)
    if not structure.obeys.all() and structure.obeys.any():
        excess = evened(structure, excess, lever)
    excess = excess - excess[structure.modules.index(structure.leader)]
    return np.where(structure.obeys[:, None], moved_to(excess, -structure.offsets_S), 0.0)


class FeedForward:
    """Accumulates the feed-forward of all modules.

    Args:
        lift: of the modules.
        gain: k, of one period of 1/40 s.
        compensation: ``none``, ``printed`` or ``default``.
        limit: of k times lambda.

    Attributes:
        wrenches_P: (n, 6) W_ff of each module about its CoM, its own axes [N, N m].
    """

    def __init__(
        self, lift: Lift, gain: float, compensation: Compensation, *, limit: float
    ) -> None:
        self._lift, self._gain, self._limit = lift, gain, limit
        self._sign = SIGNS[compensation]
        self.wrenches_P = np.zeros((len(lift.weights), 6))
        self._against_wind_P = np.zeros((len(lift.weights), 3))  # its part of forces
        self._borne_P: dict[int, Array] = {}  # (n, 6) for each module that is carried

    def update(self, structure: Structure, external_P: Array, desired_S: Array) -> None:
        """Go on by one period with what each module's observer tells.

        Args:
            structure: whose modules are meant.
            external_P: (n, 6) W_ext of all modules about their CoMs, own axes [N, N m].
            desired_S: see `increments`.
        """
        y = potential(structure, external_P[list(structure.modules)])
        self._add(structure, increments(structure, y, desired_S, self._lift.lever))

    def update_measured(self, structure: Structure, joint_S: Array, desired_S: Array) -> None:
        """The same with wrenches (m, 6) that are measured in the joints, about their places.

        Nothing is then taken for a joint's wrench that is a disturbance of one module only.
        """
        y = potential_of_joints(structure, joint_S)
        self._add(structure, increments(structure, y, desired_S, self._lift.lever))

    def _add(self, structure: Structure, S_P: Array) -> None:
        gain = min(self._gain * min(structure.connectivity, 1.0), self._limit)
        self.wrenches_P[list(structure.modules)] += self._sign * gain * S_P

    def push_against(self, structure: Structure, wind_P: Array, share: float) -> None:
        """Let all modules of a structure push against a force (3,) that each feels [N], by a share of what is new."""
        rows = list(structure.modules)
        change = share * (-wind_P - self._against_wind_P[rows])
        self._against_wind_P[rows] += change
        self.wrenches_P[rows, :3] += change

    def bear(self, structure: Structure, module: int, weight_S: Array) -> None:
        """Let a structure carry a module of it whose motors have stopped, and no other one.

        Args:
            structure: of the module.
            module: its number.
            weight_S: (3,) its weight [N].
        """
        borne_P = np.zeros_like(self.wrenches_P)
        at_gcos = np.concatenate([-weight_S, np.cross(structure.offset_S(module), -weight_S)])
        borne_P[list(structure.modules)] = shares(
            structure, at_gcos, self._lift.among(structure.modules)
        )
        self.wrenches_P += borne_P - self._borne_P.get(module, 0.0)
        self._borne_P[module] = borne_P

    def hold(self, structure: Structure, shift_W: Array, estimates: Array) -> None:
        """Take away what laws of a structure's modules that obey do about a step of references, so that none moves.

        Args:
            structure: whose references step.
            shift_W: (3,) the step [m].
            estimates: (n, 13) state rows of all modules.
        """
        for module in np.array(structure.modules)[structure.obeys]:
            step_P = so3.rotate(so3.conjugate(estimates[module, Q]), shift_W)
            self.wrenches_P[module, :3] -= self._lift.stiffness[module] * step_P

    def put(self, module: int, wrench_P: Array) -> None:
        """Set the feed-forward (6,) of a module that has parted from all others, besides what it pushes against."""
        self.wrenches_P[module] = wrench_P
        self.wrenches_P[module, :3] += self._against_wind_P[module]
        for borne_P in self._borne_P.values():
            borne_P[module] = 0.0


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
