# SPDX-License-Identifier: BSD-3-Clause
"""An identified plant in the place of an engine: it moves on velocity commands, without wrenches or contact."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from iap_description.arrays import Array
from iap_description.errors import BadInput, FlightFailed, IapError
from iap_description.math import so3
from iap_description.states import STATE_SIZE, P, Q, V, W
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.joint_limits import BASE, JointLimits
from iap_description.world.world import World
from iap_physics.engines.arm_motors import ArmMotors, arm_motors
from iap_physics.engines.contactless import ContactlessEngine
from iap_physics.engines.engine import DIVERGED, RUNNING
from iap_physics.identified.dynamics import JOINTS, SIZE
from iap_physics.identified.plant import IdentifiedPlant, PlantState, velocity_model
from iap_physics.identified.plant_file import load_plant
from iap_physics.identified.spec import IdentifiedSpec


@dataclass(frozen=True)
class IdentifiedSnapshot:
    """State for `restore`."""

    t: float
    plant: IdentifiedPlant
    command: Array
    motors: Array


class IdentifiedEngine(ContactlessEngine):
    """One vehicle whose velocities follow commands by an identified model.

    Attributes:
        plant: the model in flight; of `load`.
    """

    refusal = "a plant identified from logs {}"

    def __init__(self) -> None:
        self.batch, self.t = 1, 0.0
        self.status = np.full(1, RUNNING)
        self._x = np.zeros((1, 1, STATE_SIZE))
        self._v_d = np.zeros(SIZE)
        self._twist: Array | None = None  # that counts from the next step on
        self._moves_joints = True

    def identify(self, spec: IdentifiedSpec, seed: int, period: float) -> None:
        """Take the model of the vehicle that is loaded next.

        Args:
            spec: of the plant.
            seed: of its noise.
            period: for which a command is held [s].

        Raises:
            BadInput: no such model.
        """
        self._spec, self._seed, self._period = spec, seed, period
        self._file = load_plant(spec.file)
        self._model = velocity_model(self._file)

    def load(
        self,
        world: World,  # noqa: ARG002 - nothing of it is met
        assemblies: Sequence[Assembly],
        x: Array | None = None,
    ) -> None:
        """Take the arm of the only vehicle; with states, begin where the specification says.

        Raises:
            BadInput: another number of vehicles or joints.
        """
        arms = arm_motors(assemblies)
        if len(assemblies) != 1 or len(assemblies[0].bodies) != 1:
            raise BadInput("key 'plant.type': identified flies one vehicle of one body")
        if list(arms) != [0] or len(arms[0].q) != JOINTS:
            raise BadInput(
                f"key 'plant.type': identified flies a platform with an arm of {JOINTS} joints"
            )
        self.arms = arms
        self._limits = JointLimits(self._motors.arm.record, self._period)
        if x is not None:
            self.reset(x)

    @property
    def _motors(self) -> ArmMotors:
        return self.arms[0]

    def reset(self, x: Array, worlds: ArrayLike | None = None) -> None:  # noqa: ARG002 - it has one world
        """Start anew where the specification says, which the states (1, 1, 13) repeat."""
        spec = self._spec
        start = PlantState(
            np.array(spec.position), spec.yaw, np.array(spec.joints), np.zeros(SIZE)
        )
        self.plant = IdentifiedPlant(self._file, start, noise=spec.noise, seed=self._seed)
        self.t, self.status[:] = 0.0, RUNNING
        self._v_d[:], self._twist = 0.0, None
        self._motors.reset()
        self._show()

    def command(self, twist: Array, *, moves_joints: bool = True) -> None:
        """Take the twist (6,) of the platform along the axes of its heading, to count from the next step on.

        Args:
            twist: [m/s], [rad/s].
            moves_joints: whether joints follow the velocities that their motors have then, or stand still.

        Raises:
            FlightFailed: the twist is no number.
        """
        if not np.isfinite(twist).all():
            raise FlightFailed("invalid_command", self.t, "the controller's command is not finite")
        self._twist, self._moves_joints = twist[[0, 1, 2, 5]], moves_joints

    def _take_command(self, twist: Array) -> None:
        """Hold a twist (4,) and the motors' velocities; what joints cannot do is cut, and counted as the motors'."""
        q, rates = self.plant.state.q, self._motors.targets[1] * self._moves_joints
        v = np.append(twist, rates)
        if self._spec.static_inverse:
            v = self._model.held_command(q, v)
        self._v_d[:] = self._limits(v, q)
        self._motors.clipped += self._limits.cut

    def step(self, dt: float) -> None:
        """Advance by `dt` [s] under the last command.

        Raises:
            FlightFailed: the velocities are beyond all bounds, or the flight has ended.
        """
        if self.status[0] != RUNNING:
            raise FlightFailed("diverged", self.t, "the flight has ended already: reset it")
        if self._twist is not None:
            self._take_command(self._twist)
            self._twist = None
        try:
            self.plant.step(self._v_d, dt)
        except FlightFailed:
            self.status[:] = DIVERGED
            raise
        self.t = self.plant.t
        self._show()

    def _show(self) -> None:
        """Write state row and joints."""
        s, x = self.plant.state, self._x[0, 0]
        x[P], x[Q] = s.p_WP_W, so3.quaternion_exp(np.array([0.0, 0.0, s.yaw]))
        x[V], x[W] = so3.rotate(x[Q], s.v[:3]), (0.0, 0.0, s.v[3])
        self._motors.q[:], self._motors.v[:] = s.q, s.v[BASE:]

    def snapshot(self) -> IdentifiedSnapshot:
        """The model with its noise, the present command, and the motors."""
        plant = copy.deepcopy(self.plant)
        return IdentifiedSnapshot(self.t, plant, self._v_d.copy(), self._motors.held)

    def restore(self, snapshot: object) -> None:
        """Return to a snapshot."""
        if not isinstance(snapshot, IdentifiedSnapshot):
            raise IapError("restore: the snapshot is not of this engine")
        self.t, self.plant = snapshot.t, copy.deepcopy(snapshot.plant)
        self._v_d[:], self.status[:], self._twist = snapshot.command, RUNNING, None
        self._motors.held = snapshot.motors
        self._show()

    def state(self) -> Array:
        """(1, 1, 13) the present state."""
        return self._x

    def apply(self, wrenches_W: Array) -> None:
        """Refuse: nothing pushes such a plant."""
        self._refuse("has no bodies that wrenches act on")

    def object_states(self) -> Array:
        """(0, 13): it meets no objects."""
        return np.zeros((0, STATE_SIZE))
