# SPDX-License-Identifier: BSD-3-Clause
"""Admittance: the revised command against eq. (19) of iap_simulator, and its twist against its pose."""

import numpy as np
import pytest
from flying import DT, gains_of
from moving import Tumble

from iap_control.interaction.admittance import Admittance
from iap_control.interaction.wrench_control import NO_AXES
from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.signals import NO_WRENCH, Reference
from iap_description.states import Level

every_orientation = pytest.mark.parametrize("orientation", ["so3", "euler"])
PITCH = np.array([0.0, 0.0, 0.0, 0.0, 5.2, 0.0])


def law(orientation="so3", **changes):
    return gains_of().admittance.model_copy(update={"orientation": orientation, **changes})


def level_row(yaw=0.0):
    row = np.zeros(22)
    row[3:7] = so3.quaternion_exp(np.array([0.0, 0.0, yaw]))
    return row


def euler(q):
    return so3.euler_from_matrix(so3.matrix_from_quaternion(q))


def revised(admittance, row, wrench_W, steps, active=True):
    """The last of `steps` revised rows under a constant wrench."""
    for _ in range(steps):
        out = admittance(Reference(row), wrench_W, active)
    return out.row


@pytest.mark.slow
def test_without_a_wrench_the_command_is_followed_as_it_is():
    row = Tumble(1).row(0.3, 3)
    for orientation in ("so3", "euler"):
        out = revised(Admittance(law(orientation), DT), row, np.zeros(6), 5)
        np.testing.assert_allclose(out, row, atol=1e-12)


@every_orientation
def test_a_constant_wrench_moves_the_command_by_wrench_over_spring(orientation):
    wrench_W = np.array([8.0, -6.0, 4.0, 0.0, 5.2, 0.0])
    out = revised(Admittance(law(orientation), DT), level_row(), wrench_W, 4000)
    np.testing.assert_allclose(out[:3], wrench_W[:3] / 100.0, atol=1e-9)
    np.testing.assert_allclose(euler(out[3:7]), [0.0, 5.2 / 25.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(out[7:19], 0.0, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("damping", [0.5, 1.0, 1.414])
@pytest.mark.parametrize("dt", [0.001, 0.005, 0.05])
def test_the_step_response_is_that_of_mass_damper_and_spring(damping, dt):
    M, K = 2.0, 50.0
    D = 2.0 * damping * np.sqrt(K * M)
    gains = law(M=(M,) * 6, D=(D,) * 6, K=(K,) * 6)
    admittance, e, states = Admittance(gains, dt), [], np.zeros(2)
    A = np.array([[0.0, 1.0], [-K / M, -D / M]])
    exact = []
    for _ in range(round(1.0 / dt)):
        revised(admittance, level_row(), np.array([3.0, 0.0, 0.0, 0.0, 0.0, 0.0]), 1)
        e.append(admittance.correction[0])
        for _ in range(200):  # Euler steps far below every time constant
            h = dt / 200
            states = states + h * (A @ (states + 0.5 * h * (A @ states + [0, 3 / M])) + [0, 3 / M])
        exact.append(states[0])
    np.testing.assert_allclose(e, exact, atol=2e-7)


@pytest.mark.parametrize("yaw", [0.0, np.pi / 2, 2.5])
def test_pitch_is_the_platform_s_whichever_way_it_faces(yaw):
    torque_W = so3.rotate(so3.quaternion_exp(np.array([0.0, 0.0, yaw])), PITCH[3:])
    out = revised(
        Admittance(law(), DT), level_row(yaw), np.concatenate([np.zeros(3), torque_W]), 4000
    )
    roll, pitch, heading = euler(out[3:7])
    assert pitch == pytest.approx(5.2 / 25.0, abs=1e-9)
    assert roll == pytest.approx(0.0, abs=1e-9)
    assert heading == pytest.approx(yaw, abs=1e-9)


def test_as_printed_pitch_is_the_world_s():
    """A platform that faces north feels a torque about the world's y axis as roll, but pitches."""
    out = revised(Admittance(law("euler"), DT), level_row(np.pi / 2), PITCH, 4000)
    np.testing.assert_allclose(euler(out[3:7]), [0.0, 5.2 / 25.0, np.pi / 2], atol=1e-9)


def differentiated(orientation, dt=1e-4, count=600):
    """Revised rows while the command tumbles and the wrench swings, at small steps."""
    admittance, motion = Admittance(law(orientation), dt), Tumble(3, turn=0.7)
    rows = []
    for k in range(count):
        swing = np.sin(9.0 * k * dt + np.arange(6.0))
        wrench_W = swing * np.array([20.0, 15.0, 30.0, 20.0, 9.0, 25.0])
        rows.append(admittance(Reference(motion.row(0.4 + k * dt)), wrench_W, True).row.copy())
    return np.array(rows), dt


@every_orientation
def test_the_revised_twist_is_the_derivative_of_the_revised_pose(orientation):
    rows, dt = differentiated(orientation)
    velocity = (rows[2:, :3] - rows[:-2, :3]) / (2.0 * dt)
    turns = so3.quaternion_log(so3.multiply(so3.conjugate(rows[:-2, 3:7]), rows[2:, 3:7]))
    np.testing.assert_allclose(rows[1:-1, 7:10], velocity, atol=2e-4)
    np.testing.assert_allclose(rows[1:-1, 10:13], turns / (2.0 * dt), atol=2e-3)
    assert np.abs(rows[-1, :3] - Tumble(3, turn=0.7).row(0.4 + 599 * dt)[:3]).max() > 1e-3


@every_orientation
def test_the_revised_acceleration_is_the_derivative_of_the_revised_twist(orientation):
    rows, dt = differentiated(orientation)
    twist = (rows[2:, 7:13] - rows[:-2, 7:13]) / (2.0 * dt)
    np.testing.assert_allclose(rows[1:-1, 13:19], twist, atol=2e-2)


@every_orientation
def test_the_correction_has_a_limit_and_does_not_wind_up(orientation):
    admittance = Admittance(law(orientation, limit=(0.2, 0.3)), DT)
    wrench_W, highest = np.array([500.0, 0.0, -500.0, 0.0, 200.0, 0.0]), 0.0
    for _ in range(3000):
        revised(admittance, level_row(), wrench_W, 1)
        highest = max(highest, abs(admittance.correction[0]))
    np.testing.assert_allclose(admittance.correction, [0.2, 0.0, -0.2, 0.0, 0.3, 0.0], atol=1e-9)
    assert highest <= 0.2 + 1e-12
    after = [admittance.correction.copy()]
    for _ in range(100):
        revised(admittance, level_row(), np.zeros(6), 1)
        after.append(admittance.correction.copy())
    assert after[4][0] < 0.2  # it comes back at once
    assert after[-1][0] < 0.1


def test_even_an_undamped_law_stays_within_its_limit():
    gains = law(M=(1.0,) * 6, D=(2.0,) * 6, K=(100.0,) * 6, limit=(0.2, 0.3))
    admittance = Admittance(gains, DT)
    for k in range(4000):
        wrench_W = np.full(6, 1e3 if np.sin(9.95 * k * DT) > 0.0 else -1e3)
        revised(admittance, level_row(), wrench_W, 1)
        assert np.abs(admittance.correction[:3]).max() <= 0.2 + 1e-9
        assert np.abs(admittance.correction[3:]).max() <= 0.3 + 1e-9


@every_orientation
def test_switched_off_it_relaxes_without_a_jump_and_on_again_it_goes_on(orientation):
    admittance = Admittance(law(orientation), DT)
    wrench_W = np.array([8.0, 0.0, 0.0, 0.0, 5.0, 0.0])
    rows = [revised(admittance, level_row(), wrench_W, 1).copy() for _ in range(600)]
    rows += [revised(admittance, level_row(), wrench_W, 1, active=False).copy() for _ in range(60)]
    held = admittance.correction.copy()
    rows += [revised(admittance, level_row(), wrench_W, 1).copy() for _ in range(600)]
    steps = np.abs(np.diff(np.array(rows)[:, :7], axis=0)).max()
    assert steps < 0.003
    assert 0.0 < held[0] < rows[599][0]
    np.testing.assert_allclose(admittance.correction[0], 0.08, atol=1e-4)
    revised(admittance, level_row(), wrench_W, 4000, active=False)
    np.testing.assert_array_equal(admittance.correction, 0.0)


def test_reset_forgets_the_correction():
    admittance = Admittance(law(), DT)
    revised(admittance, level_row(), PITCH, 100)
    admittance.reset()
    np.testing.assert_array_equal(admittance.correction, 0.0)


def test_level_and_wrench_of_the_reference_are_handed_on():
    wrench_P = np.arange(6.0)
    reference = Reference(level_row(), Level.VELOCITY, wrench_P)
    out = Admittance(law(), DT)(reference, np.zeros(6), True)
    assert out.level == Level.VELOCITY
    np.testing.assert_array_equal(out.wrench_P, wrench_P)


@every_orientation
@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2, 1.5])
def test_an_upright_platform_gets_numbers(orientation, pitch):
    row = level_row()
    row[3:7] = so3.quaternion_exp(np.array([0.0, pitch, 0.0]))
    row[10:13] = (0.3, -0.2, 0.1)
    out = revised(Admittance(law(orientation), DT), row, np.full(6, 5.0), 200)
    assert np.isfinite(out).all()
    assert np.linalg.norm(out[3:7]) == pytest.approx(1.0, abs=1e-12)


def test_what_is_not_finite_is_refused_and_changes_nothing():
    admittance = Admittance(law(), DT)
    revised(admittance, level_row(), PITCH, 100)
    before = admittance.correction.copy()
    with pytest.raises(BadInput, match="admittance: the wrench is not finite"):
        revised(admittance, level_row(), np.full(6, np.nan), 1)
    row = level_row()
    row[8] = np.inf
    with pytest.raises(BadInput, match="admittance: the reference is not finite"):
        revised(admittance, row, PITCH, 1)
    np.testing.assert_array_equal(admittance.correction, before)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"K": (0.0,) * 6}, "key 'K.0'"),
        ({"orientation": "quaternion"}, "key 'orientation'"),
        ({"limit": (0.5, 3.0)}, "key 'limit': at most"),
    ],
)
def test_gains_that_make_no_sense_are_refused(change, message):
    tree = {**law().model_dump(), **change}
    with pytest.raises(BadInput, match=message):
        validate(type(law()), tree, source="gains.yaml")


@pytest.mark.parametrize("shared", [NO_WRENCH, NO_AXES])
def test_what_stands_for_nothing_cannot_be_written_by_who_gets_it(shared):
    with pytest.raises(ValueError, match="read-only"):
        shared[0] = 1
    assert not shared.any()
