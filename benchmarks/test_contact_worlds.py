# SPDX-License-Identifier: BSD-3-Clause
"""Speed of many worlds with contact in MuJoCo: physics, rotors and autopilots at 1 kHz, controllers at 200 Hz.

`docking_pair` has the ports of f450_dock, 89 pieces; `docking` a rod and a socket of 16 pieces under held commands.

An environment's step is five physics steps of one world; rates are per second of a core's own time.
"""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from iap_description.arrays import Array
from iap_description.config.record import validate
from iap_description.geometry.shapes import Shape
from iap_description.math import so3
from iap_description.states import Command, P, Q, resting_state
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.tool import Tool
from iap_description.world.objects import Board
from iap_description.world.world import World
from iap_physics.air.batch_air import Air
from iap_physics.air.wind import Wind, generators
from iap_physics.engines.engine import RUNNING
from iap_physics.engines.make import is_installed
from iap_physics.plant.plant import Plant
from iap_physics.plant.rates import LoopRates
from iap_physics.propulsion.propulsion import propulsion_of
from iap_simulation.batch.worlds import Worlds
from iap_simulation.flights.plant_spec import plant_spec
from iap_simulation.scenario.resolving import Options, resolve

pytestmark = pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")
if is_installed("mujoco"):
    from iap_physics.engines.mujoco.worlds import MuJoCoWorlds

WORLDS = 256
PERIODS = 420  # until rods touch
LOW_LOAD = 0.5
TOUCHING = {"engine.name": "mujoco", "control.wrench_mode": "none", "start.lead_in": 0.0}
RATES = LoopRates(physics_hz=1000.0, control_hz=200.0)
MOUTH = np.array([0.35, 0.0, 0.0])  # of the socket on its aircraft [m]
LEAN = 0.03  # of the aircraft to opposite sides [rad]
ROD = {
    "type": "rod",
    "length": 0.5,
    "radius": 0.01,
    "tip": {"type": "sphere", "radius": 0.03},
    "mass": 0.1,
    "position": [0.0, 0.0, 0.0],
    "rpy_deg": [0.0, 0.0, 180.0],
    "surface": {"friction": 0.3, "restitution": 0.0},
}
GRIPPER = {"object": "box", "point": [0.0, 0.0, 0.04], "reach": 0.04, "max_force": 20.0}
GRIPPER |= {"known_load": True, "target": [0.0466, 0.8, 0.64]}
SOCKET = {  # 16 pieces
    "type": "board",
    "position": MOUTH.tolist(),
    "width": 0.12,
    "height": 0.12,
    "thickness": 0.05,
    "hole": {"type": "through", "radius": 0.0337},
    "surface": {"friction": 0.3, "restitution": 0.0},
}


def on_wall(threads: int = 1) -> Worlds:
    """Worlds in which a three_star presses its rod on a wall, under its controller."""
    moves = [{"seconds": 2.0, "by": [-0.25, 0.1, 0.1], "turn_deg": [0.0, 0.0, 0.0]}]
    keys = {**TOUCHING, "reference.position": [-1.8, 0.0, 2.0], "reference.moves": moves}
    return worlds_in_contact("wall_push", keys, threads)


def in_bore(threads: int = 1) -> Worlds:
    """Worlds in which a three_star's rod leans on the side of its bore, under its controller."""
    moves = [{"seconds": 2.0, "by": [-0.45, 0.0, 0.0], "turn_deg": [0.0, 0.0, 0.0]}]
    keys = {**TOUCHING, "reference.position": [-1.8, 0.0, 2.1], "reference.moves": moves}
    return worlds_in_contact("peg_in_hole", {**keys, "control.admittance": False}, threads)


def docking_pair(threads: int = 1) -> Worlds:
    """Worlds in which a chaser's probe presses into the socket of a target, both under their controllers."""
    level, moves = {"rpy_deg": [0.0, 0.0, 0.0]}, {"type": "moves", "ease": 0.3}
    shared = {"platform": "f450_dock", "start": {"mode": "hover", "lead_in": 0.0}}
    hover = {"type": "hover", "duration": 20.0, "position": [0.0, 0.0, 5.0], **level}
    onward = {"seconds": 2.0, "by": [0.0, 0.35, 0.0], "turn_deg": [0.0, 0.0, 0.0]}
    approach = {**moves, "position": [0.0, -0.85, 5.0], **level, "moves": [onward]}
    tree = {
        "description": "Two aircraft that touch.",
        "vehicles": [
            {"name": "target", **shared, "reference": hover},
            {"name": "chaser", **shared, "reference": approach},
        ],
    }
    return worlds_in_contact(tree, {"engine.name": "mujoco"}, threads)


def with_box(threads: int = 1) -> Worlds:
    """Worlds in which an arm holds a box in its gripper, at 1 kHz by servos that bear it."""
    rough = {"surface": {"friction": 0.6, "restitution": 0.0}, "rpy_deg": [0.0, 0.0, 0.0]}
    servo = {"mode": "position", "effort": 1.5, "position_gain": 6.0, "velocity_gain": 0.15}
    box = {"type": "box", "size": [0.08] * 3, "mass": 0.2, "position": [0.26, 0.0, 1.254]}
    table = {"type": "box", "size": [0.3, 0.4, 0.6], "position": [0.39, 0.0, 0.914]}
    keys = {
        "engine.name": "mujoco",
        "rates.physics_hz": 1000.0,
        "platform.arm.motors": [{**servo, "viscous": 0.005, "speed": 6.0}] * 3,
        "reference.position": [0.0, 0.0, 1.5],
        "reference.moves": [{"seconds": 2.0, "by": [0.0, 0.0, 0.2], "turn_deg": [0.0] * 3}],
        "world.objects": {"table": {**table, **rough}, "box": {**box, **rough}},
        "arm.motion": {"type": "external"},
        "arm.feed_forward": "none",
        "gripper": {**GRIPPER, "close": 0.1, "open": 90.0},
        **dict.fromkeys(("draw.position", "draw.attitude_deg", "draw.mass"), 0.0),
    }
    return worlds_in_contact("arm_pick", keys, threads)


def worlds_in_contact(name: str | dict[str, Any], keys: dict[str, Any], threads: int) -> Worlds:
    """Worlds of a scenario that have come into contact."""
    worlds = Worlds.of(name, WORLDS, settings=keys, sensors="none", threads=threads)
    for _ in range(PERIODS):
        worlds.advance()
    return worlds


def rates(advance: Callable[[], object], clock: Callable[[], float], rounds: int = 40) -> Array:
    """Environment steps a second in each of some control periods."""
    found = []
    for _ in range(rounds):
        began = clock()
        advance()
        found.append(WORLDS / (clock() - began))
    return np.array(found)


def docking() -> Plant:
    """Worlds in which the ball of an aircraft's rod presses on the side of the socket that another one carries."""
    scenario, _ = resolve("hover", Options(platform="f450", sensors="none"))
    (vehicle,) = plant_spec(scenario).vehicles
    rod = Assembly.of(
        vehicle.platform.model_copy(update={"tool": validate(Tool, ROD, source="rod")}), "rod"
    )
    socket = with_socket(Assembly.of(vehicle.platform, "socket"))
    airframes = [vehicle.airframe(rod), vehicle.airframe(socket)]
    engine = MuJoCoWorlds(batch=WORLDS)
    engine.load(World(ground=False), [rod, socket])
    propulsion = propulsion_of(airframes, WORLDS, physics_hz=RATES.physics_hz)
    air = Air(Wind(), generators(np.random.default_rng(1), WORLDS), has_drag=True)
    plant = Plant(engine, propulsion, air, RATES)
    leaning = [so3.quaternion_exp(np.array([lean, 0.0, 0.0])) for lean in (-LEAN, LEAN)]
    x = np.array([resting_state(np.array([0.0, 0.0, 2.0]), q) for q in leaning])
    ball = x[1, P] + so3.rotate(x[1, Q], MOUTH - [0.02, 0.0, 0.0])
    x[0, P] = ball - so3.rotate(x[0, Q], rod.tool_tip_P)
    rpm = [np.array(vehicle.start_rpm)] * 2
    plant.reset(np.repeat(x[None], WORLDS, axis=0), rpm, np.random.default_rng(1))
    for k, assembly in enumerate((rod, socket)):
        command = Command.zeros(1)
        command.thrust[:] = assembly.mass * 9.81
        command.q_WB[0] = leaning[k]
        plant.command(k, command)
    return plant


def with_socket(assembly: Assembly) -> Assembly:
    """An aircraft with the pieces of a socket in front of it."""
    pieces = validate(Board, SOCKET, source="socket").pieces()
    body = assembly.bodies[0]
    there = [
        Shape.model_construct(**{**dict(piece), "position": tuple(MOUTH.tolist())})
        for piece in pieces
    ]
    return replace(assembly, bodies=(replace(body, collision=(*body.collision, *there)),))


SCENES = [
    (on_wall, 20_000),
    (docking, 20_000),
    (docking_pair, 20_000),
    (with_box, 10_000),
    (in_bore, 8_000),
]


@pytest.mark.parametrize(("make", "bar"), SCENES)
def test_worlds_with_contact(benchmark, figure, make, bar):
    made = make()
    plant = getattr(made, "plant", made)
    found = benchmark.pedantic(rates, (made.advance, time.process_time), rounds=1)
    force = np.linalg.norm(plant.engine.contact_forces(), axis=1).mean()
    median, best = np.median(found), found.max()
    figure(make.__name__, median, f"env-steps/s of a core ({force:.1f} N)", bar=bar)
    figure(f"{make.__name__}, best", best, "env-steps/s of a core", bar=bar)
    assert (plant.status == RUNNING).all()
    assert force > 0.1


@pytest.mark.skipif(
    os.getloadavg()[0] > LOW_LOAD, reason="two threads are measured at low load only"
)
def test_two_threads(benchmark, figure):
    one, two = on_wall(1), on_wall(2)
    clock = time.perf_counter
    alone = rates(one.advance, clock).max()
    found = benchmark.pedantic(rates, (two.advance, clock), rounds=1).max()
    figure("contact, two threads over one", found / alone, "", 2, bar=1.8)
