# SPDX-License-Identifier: BSD-3-Clause
"""Latches of faces: what a patch at the tip of a tool catches on a wall, what it bears, and when it gives way."""

import numpy as np
import pytest
from contact_engines import NAMES

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import P, Q, V, W
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.latch import Approach, Latch
from iap_description.vehicles.platform import load_platform
from iap_description.vehicles.tool import Tool
from iap_description.world.world import World
from iap_physics.engines.make import make_engine
from iap_physics.latching.kernel import (
    CAUGHT,
    OPEN,
    SPENT,
    FaceLimits,
    LatchParameters,
    next_face_phase,
)
from iap_physics.latching.latches import Latches, Phase
from iap_simulation.scenario.resolving import resolved

DT, GRAVITY, LENGTH, HEIGHT = 1e-3, 9.81, 0.6, 3.0
PARAMETERS = LatchParameters(5e-4, 0.3, 0.26, 1.0, 60.0, 3.0, 100.0)
FACE = FaceLimits(0.2, 0.4, 3.0)
SOUND = Approach(6e-4, 0.29, 0.25, 0.5)
SOFT = {"friction": 0.6, "restitution": 0.0, "stiffness": 2e3, "damping": 20.0}
LATCH = {
    "probe": "iap/tool", "socket": "wall", "depth": 5e-4, "radius": 0.3, "angle_deg": 15.0, "speed": 1.0,
    "damping": 60.0, "turn_damping": 3.0, "max_force": 100.0,
    "face": {"least_speed": 0.2, "slip": 0.4, "turn_rate": 3.0, "max_torque": 40.0, "stops_rotors": True},
}  # fmt: skip
TOOL = {"type": "rod", "length": LENGTH, "radius": 0.03, "tip": {"type": "plate", "size": (0.02, 0.1, 0.1)},
        "position": (0.0, 0.0, 0.0), "rpy_deg": (0.0, 0.0, 180.0), "surface": SOFT}  # fmt: skip


class Wall:
    """A platform without rotors or gravity, the patch of which is in front of a wall."""

    def __init__(self, name, *, speed=0.4, slip=0.0, spin=0.0, aside=0.0, **changes):
        tool = Tool.model_validate(TOOL)
        platform = load_platform("octo_full").model_copy(update={"tool": tool})
        self.assembly = Assembly.of(platform)
        wall = {"type": "wall", "position": [-LENGTH, 0.0, HEIGHT], "width": 2.0, "height": 2.0,
                "surface": {"friction": 0.6, "restitution": 0.0}}  # fmt: skip
        world = World.model_validate({"gravity": 0.0, "objects": {"wall": wall}})
        bodies = len(self.assembly.bodies)
        x = np.zeros((1, bodies, 13))
        x[..., Q] = (0.0, 0.0, 0.0, 1.0)
        for joint in self.assembly.joints:
            x[0, joint.child, P] = joint.p_PJ_P - so3.rotate(joint.q_PJ, joint.p_CJ_C)
            x[0, joint.child, Q] = joint.q_PJ
        x[..., P] += (2e-4, aside, HEIGHT)
        x[..., V], x[..., W] = (-speed, 0.0, slip), (0.0, 0.0, spin)
        self.engine = make_engine(name)
        self.engine.load(world, [self.assembly], x)
        latch = Latch.model_validate({**LATCH, **changes})
        self.latches = Latches(
            self.engine, {"patch": latch}, [self.assembly], [platform.ends], world.objects
        )
        self.latches.reset()
        self.steps = 0

    def step(self, count, weight=0.0, torque=0.0):
        """Some steps under a share of its weight, and a torque about y [N m] on its central body."""
        masses = np.array([body.mass for body in self.assembly.bodies])
        for _ in range(count):
            wrenches, before = np.zeros((1, len(masses), 6)), self.engine.state()[0].copy()
            wrenches[0, :, 2], wrenches[0, 0, 4] = -weight * GRAVITY * masses, torque
            self.latches.before_step(before, wrenches[0], self.steps * DT, DT)
            self.engine.apply(wrenches)
            self.engine.step(DT)
            self.steps += 1
            self.latches.end_step(before, self.steps * DT)
            self.felt = self.engine.contact_wrench(0)
            self.latches.add_reaction(0, before, self.felt)

    @property
    def events(self):
        return [event.what for event in self.latches.events]


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.mark.parametrize(
    ("changes", "slip", "rate", "phase"),
    [
        ({}, 0.39, 2.9, CAUGHT),
        ({"depth": 4e-4}, 0.39, 2.9, OPEN),
        ({"closing": 0.19}, 0.0, 0.0, SPENT),
        ({"closing": 1.01}, 0.0, 0.0, SPENT),
        ({"radius": 0.31}, 0.0, 0.0, SPENT),
        ({"angle": 0.27}, 0.0, 0.0, SPENT),
        ({}, 0.41, 0.0, SPENT),
        ({}, 0.0, 3.1, SPENT),
    ],
)
def test_a_face_decides_at_the_touch_by_all_its_limits(changes, slip, rate, phase):
    probe = SOUND._replace(**changes)
    assert next_face_phase(OPEN, probe, slip, rate, PARAMETERS, FACE) == phase


def test_what_a_face_has_not_caught_it_catches_after_the_probe_has_left_it():
    arguments = (0.0, 0.0, PARAMETERS, FACE)
    assert next_face_phase(SPENT, SOUND, *arguments) == SPENT
    away = SOUND._replace(depth=-0.0096)
    assert next_face_phase(SPENT, away, *arguments) == OPEN


@pytest.mark.parametrize(
    ("start", "events"),
    [
        ({}, ["caught", "locked"]),
        ({"speed": 0.15}, ["missed"]),
        ({"slip": 0.8}, ["missed"]),
        ({"spin": 3.5}, ["missed"]),
        ({"aside": 0.4}, ["missed"]),
    ],
)
def test_a_patch_sticks_where_it_comes_fast_straight_and_quietly_enough(name, start, events):
    wall = Wall(name, **start)
    wall.step(400)
    assert wall.events == events


def test_a_platform_that_hangs_is_in_static_equilibrium(name):
    wall = Wall(name)
    wall.step(400)
    wall.step(1000, weight=1.0)
    assert wall.events == ["caught", "locked"]
    masses = np.array([body.mass for body in wall.assembly.bodies])
    x, tip_P = wall.engine.state()[0], wall.assembly.tool_tip_P
    weights = np.outer(-GRAVITY * masses, (0.0, 0.0, 1.0))
    size = GRAVITY * masses.sum()
    moment = np.cross(x[:, P] - x[0, P] - so3.rotate(x[0, Q], tip_P), weights).sum(axis=0)
    assert np.linalg.norm(moment) == pytest.approx(size * LENGTH, rel=0.03)
    borne = wall.felt[3:] - np.cross(so3.rotate(x[0, Q], tip_P), wall.felt[:3])
    np.testing.assert_allclose(wall.felt[:3], (0.0, 0.0, size), atol=0.01 * size)
    np.testing.assert_allclose(borne, -moment, atol=0.01 * size * LENGTH)


def test_a_lock_gives_way_to_more_force_or_torque_than_it_bears(name):
    wall = Wall(name)
    wall.step(400)
    wall.step(300, weight=0.9)
    assert wall.events == ["caught", "locked"]
    wall.step(100, weight=3.5)  # 113 N and 68 N m
    assert wall.events[-1] == "broken"
    turned = Wall(name)
    turned.step(400)
    turned.step(100, torque=45.0)
    assert turned.events[-1] == "broken"


def test_a_lock_that_has_given_way_bears_nothing_any_more(name):
    wall = Wall(name)
    wall.step(400)
    wall.step(100, weight=3.5)
    assert wall.latches.phase("patch") in (Phase.SPENT, Phase.OPEN)
    wall.step(2, weight=1.0)
    assert not wall.latches.wrench("patch").any()


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"socket": "door"}, "key 'latches.patch.socket': no object 'door' .* .such: wall"),
        ({"socket": "ball"}, "no object 'ball' that stands and has a face"),
        ({"face": None}, "key 'latches.patch.face': an object as a socket needs it"),
        ({"probe": "iap/nose"}, "'iap' has no port 'nose' .ports: tool"),
    ],
)
def test_impossible_faces_are_refused_by_their_key(changes, fault):
    wall = {"type": "wall", "position": [-3.0, 0.0, 2.0], "width": 2.0, "height": 2.0}
    ball = {"type": "box", "position": [0.0, 0.0, 1.0], "size": [0.1, 0.1, 0.1], "mass": 1.0}
    objects = {"wall": {**wall, "surface": SOFT}, "ball": {**ball, "surface": SOFT}}
    hover = {"type": "hover", "duration": 1.0, "position": [-2.0, 0.0, 2.0]}
    tree = {"description": "A patch.", "platform": "octo_full", "tool": TOOL}
    tree |= {"world": {"objects": objects}, "reference": {**hover, "rpy_deg": [0.0, 0.0, 0.0]}}
    tree["latches"] = {"patch": {**LATCH, **changes}}
    with pytest.raises(BadInput, match=fault):
        resolved(tree, {}, {})
