# SPDX-License-Identifier: BSD-3-Clause
"""A leader and a follower in each of many worlds, in free flight up to the catch of their latch.

Each module flies in `Worlds` of its own, with the starts, noise and gusts that the single run of the seed gives it.
What the closed form leaves out: faces that touch, and what a joint does once its latch has caught.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from iap_control.modules.coordinator import Coordinator
from iap_control.modules.settings import ModulesSpec
from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_physics.engines.engine import RUNNING, world_indices
from iap_simulation.batch.batch_support import ENGINE, refuse_estimates
from iap_simulation.batch.placed_objects import PlacedObjects
from iap_simulation.batch.worlds import Worlds
from iap_simulation.modules.coordination import lift_of
from iap_simulation.scenario.resolving import resolved
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.scenario_keys import EngineChoice


class ModulePairs:
    """Two modules that are to dock, in each of many worlds.

    Args:
        scenario: resolved, with two vehicles and one joint between them that is open at the start.
        seeds: of the worlds.
        threads: that share the worlds; no result depends on how many.

    Attributes:
        scenario: as given.
        spec: of its modules.
        joint: name of the joint.
        leader: that is docked onto.
        follower: that docks.
        every: control periods between two instants of coordination.

    Raises:
        BadInput: another scenario, or one whose vehicles cannot be flown side by side.
    """

    def __init__(self, scenario: Scenario, seeds: Sequence[int], *, threads: int = 1) -> None:
        self.scenario, self.spec = scenario, _spec(scenario)
        refuse_estimates(scenario, "a docking of modules")
        ((self.joint, joint),) = self.spec.joints.items()
        names = [vehicle.name for vehicle in scenario.vehicles]
        self._numbers = names.index(joint.leader), names.index(joint.follower)
        self.leader, self.follower = (
            Worlds(_alone(scenario, i), seeds, threads=threads) for i in self._numbers
        )
        self.every = round(scenario.rates.control_hz / self.spec.rate)

    @classmethod
    def of(
        cls,
        scenario: str,
        count: int,
        *,
        settings: Mapping[str, Any] | None = None,
        threads: int = 1,
        **options: Any,  # noqa: ANN401 - the fields of `Options`
    ) -> Self:
        """Worlds of the first seeds at their start; arguments as those of `Worlds.of`.

        Raises:
            BadInput: anything unknown, missing or impossible, in one line.
        """
        if count < 1:
            raise BadInput("worlds: at least one seed is expected")
        return cls(resolved(scenario, settings or {}, options)[0], range(count), threads=threads)

    @property
    def both(self) -> tuple[Worlds, Worlds]:
        """In the order of the scenario's vehicles."""
        pair = self.leader, self.follower
        return pair if self._numbers == (0, 1) else pair[::-1]

    @property
    def seeds(self) -> Integers:
        """(B,) of the present flights."""
        return self.follower.seeds

    @property
    def state(self) -> Array:
        """(B, 2, 13) state rows of both central bodies in the order of the scenario's vehicles: a copy."""
        return np.stack([worlds.state[:, 0] for worlds in self.both], axis=1)

    @property
    def tilt(self) -> Array:
        """(B, N, 4) tilts of rotors of both in that order [rad]: a copy."""
        return np.concatenate([worlds.tilt for worlds in self.both], axis=1)

    @property
    def objects(self) -> PlacedObjects:
        """The objects of each world where its seed places them."""
        return self.leader.objects

    @property
    def times(self) -> Array:
        """(B,) since each world's reset [s]."""
        return self.follower.times

    @property
    def status(self) -> Integers:
        """(B,) of the follower, or of the leader where that has failed."""
        mine = self.follower.status
        return np.where(mine == RUNNING, self.leader.status, mine)

    @property
    def shared(self) -> tuple[Array, Array]:
        """Rows (B, 13) of leader and follower as they are measured, in one frame for both: without their own biases."""
        return _unbiased(self.leader), _unbiased(self.follower)

    def reset(self, worlds: Any = None, seeds: Sequence[int] | None = None) -> None:  # noqa: ANN401 - ArrayLike
        """Bring worlds back to their start; arguments as those of `Worlds.reset`."""
        indices = world_indices(worlds, len(self.seeds))
        for each in self.both:
            each.reset(indices, seeds)

    def coordinator(self) -> Coordinator:
        """A new one, for one of the worlds."""
        vehicles = [worlds.flight.vehicles[0] for worlds in self.both]
        lift = lift_of(self.scenario, vehicles)
        return Coordinator(self.spec, [vehicle.name for vehicle in vehicles], lift)


def _unbiased(worlds: Worlds) -> Array:
    rows = worlds.measured.copy()
    rows[:, :3] -= worlds.position_bias
    return rows


def _spec(scenario: Scenario) -> ModulesSpec:
    spec = scenario.modules
    if spec is None or len(scenario.vehicles) != 2 or len(spec.joints) != 1:
        raise BadInput(
            f"scenario '{scenario.scenario}': two vehicles and one joint of key 'modules' are expected"
        )
    if any(joint.joined for joint in spec.joints.values()):
        raise BadInput(f"scenario '{scenario.scenario}': its joint is joined from the start")
    return spec


def _alone(scenario: Scenario, i: int) -> Scenario:
    """One vehicle of a scenario, in the closed form."""
    changes = {
        "vehicles": (scenario.vehicles[i],),
        "modules": None,
        "engine": EngineChoice(name=ENGINE),
    }
    return scenario.model_copy(update=changes)
