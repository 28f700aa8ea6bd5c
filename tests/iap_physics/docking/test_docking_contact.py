# SPDX-License-Identifier: BSD-3-Clause
"""Contact of probe and socket: the batched one and that of the engines, on the same pushes."""

from functools import cache

import numpy as np
import pytest
from contact_engines import NAMES
from docking_pairs import assemblies, engine, momentum, move, platform, start

from iap_description.math import so3
from iap_description.states import P, Q, V, W
from iap_description.vehicles.latch import PortFrame, approach
from iap_physics.docking.contact import contact
from iap_physics.docking.mechanism import Mechanism
from iap_physics.engines.make import is_installed
from iap_physics.latching.kernel import BodyInertia
from iap_physics.latching.lock import Lock, LockRoom, lock_wrench

DT = 1e-3
BODY = assemblies()[0].bodies[0]
INERTIA = BodyInertia.of(BODY)
PORTS = platform().aircraft.ports
SURFACE = platform().aircraft.surface
MECHANISM = Mechanism.of(PORTS["probe"], PORTS["socket"], (SURFACE, SURFACE))
FRAMES = [PortFrame.of(PORTS[key], np.zeros(3)) for key in ("probe", "socket")]


class Batched:
    """The mechanism between two free bodies, by the semi-implicit Euler method."""

    def __init__(self, x):
        self.x = x[0].copy()
        self.forces = np.zeros((2, 6))

    def state(self):
        return self.x[None]

    def step(self, wrenches):
        contact(self.x[1], self.x[0], INERTIA, INERTIA, MECHANISM, DT, self.forces)
        total = wrenches[0] + self.forces[[1, 0]]
        move(self.x, total, BODY, DT)


@cache
def loaded(name):
    """An engine with both bodies, which every pair in it begins anew."""
    return engine(name, start())


class InEngine:
    """The same in an engine."""

    def __init__(self, name, x):
        self.engine = loaded(name)
        self.engine.reset(x)

    def state(self):
        return self.engine.state()

    def step(self, wrenches):
        self.engine.apply(wrenches)
        self.engine.step(DT)


@pytest.fixture(params=["batched", *NAMES])
def made(request):
    name = request.param
    return lambda x: Batched(x) if name == "batched" else InEngine(name, x)


def steered(pair, seconds, push=3.0):
    """Push the chaser's probe on while both keep level and the target its place; depths (steps,) on the way."""
    home, depths = pair.state()[0, 0, P].copy(), []
    for _ in range(round(seconds / DT)):
        x, wrenches = pair.state()[0], np.zeros((1, 2, 6))
        for i, row in enumerate(x):
            turn = so3.quaternion_log(row[Q])
            wrenches[0, i, 3:] = np.diag(BODY.inertia) * (-200.0 * turn - 30.0 * row[W])
        wrenches[0, 0, :3] = BODY.mass * (40.0 * (home - x[0, P]) - 12.0 * x[0, V])
        wrenches[0, 1, :3] = -4.0 * x[1, V]
        wrenches[0, 1, 1] += push
        pair.step(wrenches)
        depths.append(approach(x[1], x[0], *FRAMES).depth)
    return np.array(depths)


@pytest.mark.parametrize("angle", [0.0, 2.6])
def test_a_tip_40_mm_off_the_axis_is_guided_in(made, angle):
    aside = 0.04 * np.array([np.cos(angle), np.sin(angle)])
    depths = steered(made(start(depth=-0.01, aside=aside, speed=0.2)), 2.0)
    assert depths[-1] > 0.12
    assert depths.max() < 0.1245 + 0.002


@pytest.mark.parametrize("angle", [0.0, 2.6])
def test_a_tip_50_mm_off_the_axis_is_not(made, angle):
    aside = 0.05 * np.array([np.cos(angle), np.sin(angle)])
    pair = made(start(depth=-0.01, aside=aside, speed=0.2))
    steered(pair, 1.0)
    x = pair.state()[0]
    found = approach(x[1], x[0], *FRAMES)
    assert found.depth < 0.01 or found.radius > 0.049


@pytest.mark.parametrize(("aside", "touches"), [(0.06, True), (0.09, True), (0.095, False)])
def test_a_probe_beside_the_socket_touches_it_as_far_as_both_are_wide(aside, touches):
    """0.1 m beyond the mouth: a wall of 49 mm and a shoulder of 43.5 mm."""
    x, forces = start(depth=0.1, aside=(aside, 0.0), speed=0.0)[0], np.zeros((2, 6))
    assert contact(x[1], x[0], INERTIA, INERTIA, MECHANISM, DT, forces) == touches
    assert (np.abs(forces).max() > 0.0) == touches


@pytest.mark.parametrize("aside", [(-0.0016, 0.0118), (-0.0151, -0.0033)])
def test_a_shoulder_that_slides_to_the_rim_is_slowed_by_it_and_does_not_rebound(made, aside):
    """Sliding inwards on the cone, up to where the shoulder meets the rim at 78 mm."""
    start_x = start(depth=0.05, aside=aside, speed=0.28, turn=(0.0075, -0.005, 0.004))
    depths = steered(made(start_x), 0.15, push=0.5)
    assert np.diff(depths).min() > 0.0
    assert 0.079 < depths[-1] < 0.085


def test_nothing_overlaps_by_more_than_a_spring_gives_way(made):
    """At 0.4 m/s the flange stops within v sqrt(m / k) and a little more, and comes back slower."""
    pair = made(start(depth=0.12, speed=0.4))
    deepest, back = 0.0, 0.0
    for _ in range(60):
        pair.step(np.zeros((1, 2, 6)))
        found = approach(*pair.state()[0, ::-1], *FRAMES)
        deepest, back = max(deepest, found.depth), min(back, found.closing)
    yielding = 0.4 * np.sqrt(1.0 / MECHANISM.stiffness)
    assert 0.1245 < deepest < 0.1245 + yielding
    assert -0.4 < back <= 0.0


def test_contact_conserves_momentum(made):
    x = start(depth=0.02, aside=(0.03, 0.01), speed=0.3, turn=(0.05, 0.1, 0.03))
    pair = made(x)
    before = momentum(pair.state()[0])
    for _ in range(300):
        pair.step(np.zeros((1, 2, 6)))
    after = momentum(pair.state()[0])
    assert np.linalg.norm(pair.state()[0, 0, V]) > 0.01  # they have met
    np.testing.assert_allclose(after[:3], before[:3], atol=1e-9)
    np.testing.assert_allclose(after[3:], before[3:], atol=3e-3)


@pytest.mark.slow
def test_contact_takes_energy_and_gives_none():
    rng = np.random.default_rng(3)
    for _ in range(20):
        x = start(depth=rng.uniform(0.0, 0.1), aside=rng.uniform(-0.01, 0.01, 2), speed=0.3)
        pair = Batched(x)
        pair.x[1, W] = rng.uniform(-0.5, 0.5, 3)
        energies = []
        for _ in range(400):
            pair.step(np.zeros((1, 2, 6)))
            turning = sum(
                row[W]
                @ so3.rotate(row[Q], BODY.inertia @ so3.rotate(so3.conjugate(row[Q]), row[W]))
                for row in pair.x
            )
            energies.append(0.5 * (BODY.mass * (pair.x[:, V] ** 2).sum() + turning))
        assert energies[-1] < 1.001 * energies[0]


def test_forces_on_both_are_opposite_at_one_place():
    x = start(depth=0.09, aside=(0.006, 0.003), speed=0.1, turn=(0.02, 0.0, 0.03))[0]
    out = np.zeros((2, 6))
    assert contact(x[1], x[0], INERTIA, INERTIA, MECHANISM, DT, out)
    np.testing.assert_allclose(out[0, :3], -out[1, :3])
    about_origin = [
        wrench[3:] + np.cross(row[P], wrench[:3]) for wrench, row in zip(out, x[::-1], strict=True)
    ]
    np.testing.assert_allclose(about_origin[0], -about_origin[1], atol=1e-9)


def test_the_rim_pushes_a_cone_along_its_normal():
    """Without friction and motion: the force is along the normal of a cone of 25 deg, by the spring's overlap."""
    mechanism = MECHANISM._replace(friction=0.0)
    depth, aside = 0.05, 0.0465 - 0.02
    x = start(depth=depth, aside=(aside, 0.0))[0]
    out = np.zeros((2, 6))
    contact(x[1], x[0], INERTIA, INERTIA, mechanism, DT, out)
    slope = (0.036 - 0.0038) / 0.069
    radius = 0.0038 + slope * (depth - 0.0085)
    overlap = (radius - 0.02) / np.sqrt(1.0 + slope**2)
    force = out[0, :3]
    assert -force[1] / -force[0] == pytest.approx(slope, rel=1e-6)
    assert (
        np.linalg.norm(force) < MECHANISM.stiffness * overlap
    )  # the end of the step, when it gave way
    assert np.linalg.norm(force) > 0.7 * MECHANISM.stiffness * overlap


def test_a_lock_leaves_no_relative_motion_after_a_step():
    x = start(depth=0.116, speed=0.3, turn=(0.05, 0.1, -0.2))[0]
    x[0, W], x[1, W] = (0.3, -0.2, 0.1), (0.0, 0.5, -0.4)
    wrenches = np.array([[1.0, 2.0, 3.0, 0.1, 0.2, -0.1], [-2.0, 1.0, 0.5, 0.0, 0.1, 0.3]])
    p_A = FRAMES[0].position
    at_W = x[1, P] + so3.rotate(x[1, Q], p_A)
    p_B = so3.rotate(so3.conjugate(x[0, Q]), at_W - x[0, P])
    q_AB = tuple(so3.multiply(so3.conjugate(x[1, Q]), x[0, Q]))
    out = np.zeros(6)
    room = LockRoom.empty()._replace(wrenches=wrenches[::-1].copy())
    lock_wrench(x[1], x[0], Lock(p_A, p_B, q_AB), (INERTIA, INERTIA), room, 9.81, DT, out)
    after = []
    for row, wrench, sign in ((x[1], wrenches[1], 1.0), (x[0], wrenches[0], -1.0)):
        r = at_W - row[P]
        spin = (
            so3.matrix_from_quaternion(row[Q])
            @ BODY.inertia
            @ so3.matrix_from_quaternion(row[Q]).T
        )
        torque = (
            wrench[3:] + sign * (out[3:] + np.cross(r, out[:3])) - np.cross(row[W], spin @ row[W])
        )
        w = row[W] + DT * np.linalg.solve(spin, torque)
        after.append((row[V] + DT * (wrench[:3] + sign * out[:3]) / BODY.mass + np.cross(w, r), w))
    np.testing.assert_allclose(after[0][0], after[1][0], atol=1e-9)
    np.testing.assert_allclose(after[0][1], after[1][1], atol=1e-9)


def test_rigid_surfaces_are_refused():
    rigid = SURFACE.model_copy(update={"stiffness": None, "damping": None})
    with pytest.raises(ValueError, match=r"surface\.stiffness"):
        Mechanism.of(PORTS["probe"], PORTS["socket"], (SURFACE, rigid))


def thrown(pair, seconds=0.2):
    """Depth [m], radius [m] and angle [rad] after a flight without forces but contact."""
    for _ in range(round(seconds / DT)):
        pair.step(np.zeros((1, 2, 6)))
    x = pair.state()[0]
    return np.array(approach(x[1], x[0], *FRAMES)[:3])


@pytest.mark.slow
def test_tilted_probes_go_as_deep_as_in_engines():
    """The probe's shoulder meets the rim on one side while its cone is on the wall across: both places must push."""
    engines = [each for each in ("pybullet", "mujoco") if is_installed(each)]
    rng, off = np.random.default_rng(0), []
    for _ in range(100):
        x = start(
            depth=rng.uniform(0.03, 0.05),
            aside=rng.uniform(-0.012, 0.012, 2),
            speed=rng.uniform(0.2, 0.5),
            turn=(rng.uniform(-0.2, 0.2), 0.0, rng.uniform(-0.2, 0.2)),
        )
        batched = thrown(Batched(x))
        off.append([batched - thrown(InEngine(each, x)) for each in engines])
    mean, median = np.mean(off, axis=0), np.median(np.abs(off), axis=0)
    assert np.all(np.abs(mean) < [0.002, 0.002, np.deg2rad(0.2)])
    assert np.all(median < [0.004, 0.002, np.deg2rad(0.3)])
