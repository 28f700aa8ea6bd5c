# SPDX-License-Identifier: BSD-3-Clause
"""The closed loop of an end effector's path: law, inverse of the plant, limits of the arm, plant."""

from dataclasses import dataclass, replace

import numpy as np

from iap_control.arm.joint_limits import JointLimits
from iap_control.laws.end_effector import EndEffectorLaw, SingularPose, task_pose
from iap_description.arrays import Array, Integers
from iap_description.config.bounds import check_size
from iap_description.errors import FlightFailed
from iap_description.vehicles.arm import load_arm
from iap_io.runs.run_meta import COMPLETED
from iap_physics.identified.dynamics import JOINTS, SIZE
from iap_physics.identified.plant import IdentifiedPlant, PlantState, VelocityModel, velocity_model
from iap_physics.identified.plant_file import load_plant
from iap_simulation.arm.scenario import ArmScenario
from iap_simulation.arm.starts import drawn_starts


@dataclass
class ArmFlightLog:
    """A flight, one row for every step of the plant.

    Attributes:
        t: (K,) [s].
        pose: (K, 4) platform's position [m] and yaw [rad].
        q: (K, 3) joint angles [rad].
        v: (K, 7) velocities.
        command: (K, 7) what the plant was told from then on.
        r: (K, 4) end effector's position [m] and heading [rad].
        r_d: (K, 4) what they should be.
        clipped: (3,) control steps in which a joint's command was cut to its limits.
        outcome: one word for metrics.json.
        failure: why it did not complete, else "".
    """

    t: Array
    pose: Array
    q: Array
    v: Array
    command: Array
    r: Array
    r_d: Array
    clipped: Integers
    outcome: str = COMPLETED
    failure: str = ""

    def rows(self, count: int) -> "ArmFlightLog":
        """The first rows."""
        names = ("t", "pose", "q", "v", "command", "r", "r_d")
        return replace(self, **{name: getattr(self, name)[:count] for name in names})


COLUMNS = 13 + JOINTS + 2 * SIZE  # of a log, all fields together


def empty(count: int) -> ArmFlightLog:
    """Rows to be filled."""
    return ArmFlightLog(
        t=np.zeros(count),
        pose=np.zeros((count, 4)),
        q=np.zeros((count, JOINTS)),
        v=np.zeros((count, SIZE)),
        command=np.zeros((count, SIZE)),
        r=np.zeros((count, 4)),
        r_d=np.zeros((count, 4)),
        clipped=np.zeros(JOINTS, np.int64),
    )


class ArmFlight:
    """One flight, made ready.

    Args:
        scenario: resolved.

    Raises:
        BadInput: the start is beyond the arm's limits, or no such plant or arm.
    """

    def __init__(self, scenario: ArmScenario) -> None:
        self.scenario, self.arm = scenario, load_arm(scenario.arm)
        self.law = EndEffectorLaw(self.arm, scenario.control.law)
        self.plant_file = load_plant(scenario.plant)
        self._limits = JointLimits(self.arm, scenario.dt)
        pose, q = drawn_starts(scenario, self.arm, np.array([scenario.seed]))
        self._chain = self.arm.chain()
        self._start = PlantState(pose[0, :3], float(pose[0, 3]), q[0], np.zeros(SIZE))

    def warm_up(self) -> None:
        """Bring compiled code into memory, which is no part of a flight."""
        plant = IdentifiedPlant(self.plant_file, self._start, noise=0.0, seed=0)
        plant.step(np.zeros(SIZE), 1e-6)

    @property
    def model(self) -> VelocityModel:
        """The plant's model, at rest."""
        return velocity_model(self.plant_file)

    def fly(self) -> ArmFlightLog:
        """Fly to the end, or to where it fails."""
        scenario = self.scenario
        plant = IdentifiedPlant(
            self.plant_file, self._start, noise=scenario.noise, seed=scenario.seed
        )
        count = round(scenario.duration * scenario.rates.plant_hz) + 1
        check_size("duration", count, COLUMNS)
        log, h = empty(count), 1.0 / scenario.rates.plant_hz
        log.t[:] = h * np.arange(count)
        log.r_d[:], rates = scenario.path.at(log.t)
        log.clipped, every = self._limits.clipped, scenario.plant_steps
        for k in range(count):
            self._put(log, k, plant.state)
            try:
                if k % every == 0:
                    command = self._commanded(plant.state, log.r_d[k], rates[k])
                log.command[k] = command
                plant.step(command, h)
            except (FlightFailed, SingularPose) as error:
                log.outcome = getattr(error, "outcome", "singular")
                log.failure = str(error)
                return log.rows(k + 1)
        return log

    def _commanded(self, state: PlantState, r_d: Array, dr_d: Array) -> Array:
        """The command (7,) of a state."""
        command = self.law(r_d, dr_d, state.p_WP_W, state.yaw, state.q)
        if self.scenario.control.static_inverse:
            command = self.model.held_command(state.q, command)
        return self._limits(command, state.q)

    def _put(self, log: ArmFlightLog, k: int, state: PlantState) -> None:
        log.pose[k, :3], log.pose[k, 3] = state.p_WP_W, state.yaw
        log.q[k], log.v[k] = state.q, state.v
        log.r[k] = task_pose(self._chain, state.p_WP_W, state.yaw, state.q)
