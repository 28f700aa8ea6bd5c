# SPDX-License-Identifier: BSD-3-Clause
"""A latch at work: what it bears until it gives way, the motion that it sees, and rotors that idle with it."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.states import P, Q, V, W
from iap_description.vehicles.latch import Latch, PortFrame
from iap_physics.engines.engine import WORLD
from iap_physics.latching import kernel
from iap_physics.latching.kernel import BodyInertia, LatchParameters
from iap_physics.latching.rotor_stops import RotorStops
from iap_physics.latching.working_latch import PAD_TIME, WorkingLatch

KEYS = {
    "probe": "a/probe", "socket": "b/socket", "depth": 0.01, "radius": 0.02, "angle_deg": 10.0, "speed": 1.0,
    "damping": 60.0, "turn_damping": 3.0, "max_force": 100.0,
}  # fmt: skip
FACE = {"least_speed": 0.2, "slip": 0.4, "turn_rate": 3.0, "max_torque": 40.0}
PORTS = (
    PortFrame(np.array([0.1, 0.0, 0.0]), np.array([1.0, 0.0, 0.0])),
    PortFrame(np.array([-0.1, 0.0, 0.0]), np.array([-1.0, 0.0, 0.0])),
)


def latch_of(*, face=False, stops=False, rows=(0, 1)):
    more = {"socket": "wall", "face": {**FACE, "stops_rotors": stops}} if face else {}
    latch = Latch.model_validate({**KEYS, **more})
    bodies = (BodyInertia.immovable(), BodyInertia.immovable())
    return WorkingLatch("l", latch, rows, PORTS, bodies, LatchParameters.of(latch))


def test_the_motion_is_that_across_the_axis_and_of_one_body_in_the_other():
    x = np.zeros((2, 13))
    x[:, Q] = (0.0, 0.0, 0.0, 1.0)
    x[1, P] = (0.2, 0.0, 0.0)
    x[0, V], x[1, V] = (0.9, 0.3, 0.0), (0.1, 0.0, 0.4)
    x[0, W], x[1, W] = (1.0, 0.0, 0.0), (0.4, 0.0, 0.8)
    assert latch_of().motion(x)[0] == pytest.approx(np.hypot(0.3 - -0.08, 0.4))
    assert latch_of().motion(x)[1] == pytest.approx(1.0)
    standing = latch_of(face=True, rows=(0, WORLD))
    assert standing.states(x)[1] is standing.standing
    assert standing.motion(x) == (pytest.approx(0.3), pytest.approx(1.0))


@pytest.mark.parametrize(
    ("force", "torque", "between_ports", "of_face"),
    [(99.0, 500.0, False, True), (101.0, 0.0, True, True), (99.0, 39.0, False, False), (0.0, 41.0, False, True)],
)  # fmt: skip
def test_ports_give_way_to_a_force_and_a_face_to_a_torque_too(
    force, torque, between_ports, of_face
):
    for face, gives_way in ((False, between_ports), (True, of_face)):
        latch = latch_of(face=face)
        for _ in range(100):  # for as long as its pad smooths
            latch.bear(np.array([0.0, force, 0.0, 0.0, 0.0, torque]), 0.001)
        assert latch.gives_way == gives_way


def test_a_pad_takes_a_blow_of_one_step_that_ports_do_not():
    blow = np.array([300.0, 0, 0, 0, 0, 0])
    ports, face = latch_of(), latch_of(face=True)
    for each in (ports, face):
        each.bear(blow, 0.001)
    assert ports.gives_way and not face.gives_way
    np.testing.assert_allclose(face.smooth_W, blow * 0.001 / (0.001 + PAD_TIME))
    np.testing.assert_array_equal(face.wrench_W, blow)
    face.end(kernel.SPENT)
    assert not face.smooth_W.any() and not face.wrench_W.any() and face.phase == kernel.SPENT


@pytest.mark.parametrize(
    ("phase", "closed"),
    [(kernel.OPEN, False), (kernel.CAUGHT, True), (kernel.LOCKED, True), (kernel.SPENT, False)],
)
def test_it_holds_what_it_has_caught_or_locked(phase, closed):
    latch = latch_of()
    latch.phase = phase
    assert latch.is_closed == closed


def test_rotors_idle_in_worlds_whose_latch_is_locked():
    told = []
    specs = {
        "ports": latch_of().latch,
        "holds": latch_of(face=True).latch,
        "stops": latch_of(face=True, stops=True).latch,
    }
    propulsion = {"a": SimpleNamespace(stop=lambda worlds: told.append(worlds.tolist()))}
    phases = np.full((3, 3), kernel.LOCKED)
    latches = SimpleNamespace(phase_numbers=phases)
    stops = RotorStops.of(latches, specs, propulsion)
    phases[:, 2] = [kernel.LOCKED, kernel.CAUGHT, kernel.SPENT]
    stops.begin_period(0, 0.0)
    phases[:, 2] = kernel.CAUGHT
    stops.begin_period(1, 0.005)
    assert told == [[True, False, False]]
    del specs["stops"]
    assert RotorStops.of(latches, specs, propulsion) is None
