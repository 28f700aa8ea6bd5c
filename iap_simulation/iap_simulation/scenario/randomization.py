# SPDX-License-Identifier: BSD-3-Clause
"""Random start and friction of every seed: a scenario's key `draw`."""

import numpy as np

from iap_description import so3
from iap_description.arrays import Array
from iap_description.random_streams import stream
from iap_description.states import REF_P, REF_Q
from iap_description.world.world import World
from iap_physics.plant_spec import scaled_friction
from iap_simulation.scenario.scenario import Draw, Scenario


def drawn_start(row: Array, draw: Draw, rng: np.random.Generator) -> Array:
    """A reference row (19+) whose pose is displaced."""
    out = row.copy()
    dice = rng.uniform(-1.0, 1.0, 6)
    out[REF_P] += draw.position * dice[:3]
    turn = so3.quaternion_exp(np.deg2rad(draw.attitude_deg) * dice[3:])
    out[REF_Q] = so3.multiply(row[REF_Q], turn)
    return out


def drawn_world(scenario: Scenario) -> World:
    """The world with the friction of this seed."""
    world, factor = scenario.world, friction_factor(scenario)
    if factor == 1.0:
        return world
    objects = {
        name: item.model_copy(update={"surface": scaled_friction(item.surface, factor)})
        for name, item in world.objects.items()
    }
    surface = scaled_friction(world.surface, factor)
    return world.model_copy(update={"surface": surface, "objects": objects})


def friction_factor(scenario: Scenario) -> float:
    """The friction of this seed over what the scenario says of surfaces."""
    dice = stream(scenario.seed, "friction").uniform(-1.0, 1.0)
    return 1.0 + scenario.draw.friction * dice
