# SPDX-License-Identifier: BSD-3-Clause
"""Many flights on an identified plant side by side: world i is the single flight of its seed."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from iap_control.arm.tip_velocities import TipVelocities
from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.vehicles.joint_limits import JointLimits
from iap_physics.engines.engine import world_indices
from iap_physics.identified.dynamics import JOINTS
from iap_physics.identified.plant import velocity_model
from iap_physics.identified.plant_file import load_plant
from iap_physics.identified.plants import IdentifiedPlants
from iap_simulation.batch.starts import give_seeds
from iap_simulation.scenario.randomization import drawn_arm_starts
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.scenario.scenario import Scenario


class ArmWorlds:
    """B flights of a scenario, without its path.

    Args:
        scenario: resolved.
        worlds: B; world i begins with the scenario's seed + i.

    Attributes:
        scenario: as given.
        identified: the key `plant`.
        motion: of the arm; its path is not flown.
        arm: of the platform.
        chain: its kinematics.
        seeds: (B,) of the present flights.
        plants: that fly.
        model: of the plants.
        cut: (B, 3) whether the last period's commands of joints were cut to their limits.

    Raises:
        BadInput: no such plant or arm, a model that flies one flight at a time, or a start beyond limits.
    """

    def __init__(self, scenario: Scenario, worlds: int) -> None:
        identified, vehicle = scenario.identified, scenario.vehicles[0]
        motion, arm = vehicle.arm.motion, vehicle.platform.arm
        if identified is None or arm is None or not isinstance(motion, TipVelocities):
            raise BadInput(
                f"scenario '{scenario.scenario}': an end effector on an identified plant is expected, as arm_path has"
            )
        self.scenario, self.identified, self.arm, self.motion = scenario, identified, arm, motion
        self.chain, plant = arm.chain(), load_plant(identified.file)
        self.plants = IdentifiedPlants(plant, worlds, noise=identified.noise)
        self.seeds: Integers = scenario.seed + np.arange(worlds)
        self.cut = np.zeros((worlds, JOINTS), bool)
        self._limits, self.model = JointLimits(self.arm, scenario.dt), velocity_model(plant)
        self.reset()

    @classmethod
    def of(cls, name: str, worlds: int, *, settings: Mapping[str, Any] | None = None) -> Self:
        """The worlds of a scenario by name or path.

        Args:
            name: of it.
            worlds: B.
            settings: values of its keys by their dotted paths.

        Raises:
            BadInput: anything unknown, missing or impossible, in one line.
        """
        sets = tuple(f"{key}={json.dumps(value)}" for key, value in (settings or {}).items())
        return cls(resolve(name, Options(assignments=sets))[0], worlds)

    @property
    def status(self) -> Integers:
        """(B,) of every world, see `iap_physics.engines.engine`."""
        return self.plants.status

    def reset(self, worlds: ArrayLike | None = None, seeds: Sequence[int] | None = None) -> None:
        """Bring worlds back to their start.

        Args:
            worlds: of which worlds, their indices or a mask (B,); None for all.
            seeds: with which they fly from now on; None keeps those that they have.

        Raises:
            BadInput: there is no such world, or there are more or fewer seeds than worlds.
        """
        indices = world_indices(worlds, len(self.seeds))
        if seeds is not None:
            give_seeds(self.seeds, indices, seeds)
        pose, q = drawn_arm_starts(self.scenario, self.seeds[indices])
        self.plants.reset(indices, self.seeds[indices], pose, q)
        self.cut[indices] = False

    def fly(self, v_d: Array) -> None:
        """Fly a control period under commands (B, 7), of which those of joints are cut to their limits."""
        limited = self._limits(v_d, self.plants.q)
        self.cut[:] = self._limits.cut
        for _ in range(self.scenario.rates.substeps):
            self.plants.step(limited, 1.0 / self.scenario.rates.physics_hz)
