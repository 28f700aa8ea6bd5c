# SPDX-License-Identifier: BSD-3-Clause
"""Speed of many worlds with contact in MuJoCo: physics, rotors and autopilots at 1 kHz, without a controller.

An environment's step is five physics steps of one world; rates are per second of a core's own time.
"""

import time
from dataclasses import replace

import numpy as np
import pytest

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
from iap_physics.build import build_plant
from iap_physics.engines.make import is_installed
from iap_physics.plant.plant import Plant
from iap_physics.plant.plant_spec import PlantSpec
from iap_physics.plant.rates import LoopRates
from iap_physics.propulsion.propulsion import propulsion_of
from iap_simulation.flights.plant_spec import plant_spec
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.simulation.simulation import Simulation

pytestmark = pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")
if is_installed("mujoco"):
    from iap_physics.engines.mujoco.worlds import MuJoCoWorlds

WORLDS = 256
IN_CONTACT = 14.0  # [s] of wall_push
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
SOCKET = {  # 16 pieces
    "type": "board",
    "position": MOUTH.tolist(),
    "width": 0.12,
    "height": 0.12,
    "thickness": 0.05,
    "hole": {"type": "through", "radius": 0.0337},
    "surface": {"friction": 0.3, "restitution": 0.0},
}


def rate(benchmark, plant: Plant) -> float:
    """Environment steps a second of a core, by the median of many control periods."""
    best = []

    def timed() -> None:
        began = time.process_time()
        plant.advance()
        best.append(time.process_time() - began)

    benchmark.pedantic(timed, rounds=40, warmup_rounds=5)
    assert (plant.status == 0).all()
    return WORLDS / float(np.median(best))


def spec_of(simulation: Simulation) -> PlantSpec:
    """The plant of a simulation's scenario, without a sensor of the contact wrench."""
    spec = plant_spec(simulation.scenario)
    free = [each.model_copy(update={"wrench_filter": None}) for each in spec.vehicles]
    return spec.model_copy(update={"vehicles": tuple(free)})


def pushing() -> Plant:
    """Worlds in which a three_star's rod pushes on a wall, with the commands that did so under a controller."""
    scenario, _ = resolve("wall_push", Options(engine="mujoco", sensors="none"))
    with Simulation.of(scenario) as simulation:
        while simulation.t < IN_CONTACT:
            simulation.step()
        flown, spec = simulation.plant, spec_of(simulation)
        plant = build_plant(spec, MuJoCoWorlds(batch=WORLDS))
        x, own = flown.state().copy(), flown.propulsion[0]
        plant.reset(np.repeat(x, WORLDS, axis=0), [own.rpm[0]], spec.rng("gusts"))
        for mine, there in zip(plant.propulsion[0].command, own.command, strict=True):
            mine[:] = there
    return plant


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


@pytest.mark.parametrize(("make", "bar"), [(pushing, 20_000), (docking, 12_000)])
def test_worlds_with_contact(benchmark, make, bar):
    plant = make()
    for _ in range(40):
        plant.advance()
    found = rate(benchmark, plant)
    force = np.linalg.norm(plant.engine.contact_forces(), axis=1).mean()
    print(f"\n{make.__name__} ({force:.1f} N): {found:.0f} env-steps/s of a core (bar: {bar})")
    assert force > 0.1
