# SPDX-License-Identifier: BSD-3-Clause
"""An end effector that is led: how fast platform and joints change their velocities, and that references agree."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from iap_control.arm.tip_guidance import TipGuidance
from iap_control.arm.tip_leader import ArmTargets
from iap_control.arm.tip_paths import Harmonic
from iap_control.arm.tip_stick import TipStick
from iap_control.arm.tip_velocities import TipVelocities
from iap_description.arrays import Array
from iap_description.config.plain_yaml import read_yaml
from iap_description.config.record import validate
from iap_description.errors import FlightFailed
from iap_description.math import so3
from iap_description.signals import Reference
from iap_description.states import (
    REF_A,
    REF_FIXED,
    REF_P,
    REF_Q,
    REF_V,
    REF_W,
    Level,
    P,
    Q,
    resting_state,
)
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_simulation.scenario.resolving import SCENARIOS

DT = 0.005
LEAD = 0.5
START = np.array([1.0, 2.0, 3.0])
MOTION = read_yaml(SCENARIOS.file("arm_teleop"))["arm"]["motion"]
ARM = Assembly.of(load_platform("f450_arm")).arm


class Goal:
    """An end effector that shall move with rates (4,), and turn, from where it is at first."""

    def __init__(self, rates: Callable[[float], Array]) -> None:
        self._rates, self.periods = rates, list[float]()

    def reset(self) -> None:
        self.periods.clear()

    def __call__(self, t: float, period: float, r: Array) -> tuple[Array, Array]:
        self.periods.append(period)
        return r.copy(), self._rates(t + period)

    def reference(self, t: float) -> Array | None:  # noqa: ARG002 - as of all sources
        return None


def guidance(rates: Array, *, alone: bool = False, **keys: Any) -> TipGuidance:
    """Guidance of the arm under a quadrotor, for constant rates (4,), at which the platform may fly alone."""
    weights = [1.0] * 4 + [1e6 if alone else 1.0] * 3
    control = {**MOTION["control"], "weights": weights, "centring": 0.0}
    tree = {**MOTION, "demands": [], "control": control, **keys}
    motion = validate(TipStick, tree, source="here")
    assert ARM is not None
    return TipGuidance(motion, Goal(lambda _: np.array(rates)), ARM, LEAD, DT)


def led(made: TipGuidance, seconds: float) -> list[ArmTargets]:
    """Targets at all control instants of a vehicle that follows exactly."""
    assert ARM is not None
    q, v = ARM.record.home_pose.copy(), np.zeros(len(ARM.links))
    x = resting_state(START, np.array([0.0, 0.0, 0.0, 1.0]))
    nominal = np.zeros(REF_FIXED + 1)
    nominal[REF_P], nominal[REF_Q] = x[P], x[Q]
    out = []
    for k in range(round((LEAD + seconds) / DT)):
        targets = made(k, x, q, v, Reference(nominal))
        if targets is not None:
            row = targets.reference.row.copy()  # the guidance goes on with its own
            out.append(targets._replace(reference=Reference(row)))
            q, v = targets.q, targets.v
            x[P], x[Q] = targets.reference.row[REF_P], targets.reference.row[REF_Q]
    return out


def test_it_leads_from_its_beginning_on_and_from_rest() -> None:
    targets = led(guidance(np.array([0.3, 0.0, 0.0, 0.0])), 0.5)
    assert len(targets) == 100
    np.testing.assert_allclose(targets[0].reference.row[REF_P], START)
    np.testing.assert_allclose(targets[0].reference.row[REF_V], 0.0)


def test_a_command_aslant_changes_the_velocity_by_the_acceleration_along_its_own_direction() -> (
    None
):
    """0.5 m/s^2 together, not on each axis."""
    goal = 2.0 * np.array([2.0, -1.0, 2.0, 0.0]) / 3.0
    made = guidance(goal, alone=True)
    rows = np.array([each.reference.row for each in led(made, 2.0)])
    speeds = np.linalg.norm(rows[:, REF_V], axis=1)
    np.testing.assert_allclose(np.diff(speeds) / DT, 0.5, atol=1e-6)
    np.testing.assert_allclose(rows[-1, REF_V] / speeds[-1], goal[:3] / 2.0, atol=1e-3)
    np.testing.assert_allclose(np.linalg.norm(rows[:, REF_A], axis=1), 0.5, atol=1e-6)


def test_heading_and_joints_keep_to_their_accelerations() -> None:
    made = guidance(np.array([0.0, 0.0, 0.0, 1.5]), turn_acceleration=0.7, joint_acceleration=0.3)
    targets = led(made, 1.5)
    turning = np.array([each.reference.row[REF_W][2] for each in targets])
    assert np.abs(np.diff(turning)).max() / DT == pytest.approx(0.7, abs=1e-6)
    made = guidance(np.array([0.0, 0.0, 0.3, 0.0]), joint_acceleration=0.3)
    joints = np.array([each.v for each in led(made, 1.5)])
    assert np.abs(np.diff(joints, axis=0)).max() / DT == pytest.approx(0.3, abs=1e-6)


def test_positions_velocities_and_accelerations_are_of_one_motion_in_a_turn_too() -> None:
    """Forward and aside while the heading turns at 1 rad/s."""
    made = guidance(np.array([0.6, 0.3, 0.0, 1.0]), alone=True)
    rows = np.array([each.reference.row for each in led(made, 4.0)])
    assert rows[-1, REF_W][2] > 0.9
    for of, rate, slack in ((REF_P, REF_V, 2.5e-3), (REF_V, REF_A, 2e-2)):
        change = (rows[2:, of] - rows[:-2, of]) / (2.0 * DT)
        told = rows[1:-1, rate]
        smooth = np.abs(np.diff(rows[:, REF_A], axis=0)).max(axis=1)[:-1] < 0.02
        np.testing.assert_allclose(change[smooth][1:], told[smooth][1:], atol=slack)


def test_what_is_asked_for_is_reached_at_its_own_rate() -> None:
    rate = np.array([0.2, 0.0, 0.0, 0.0])
    made = guidance(rate, alone=True)
    rows = np.array([each.reference.row for each in led(made, 2.0)])
    np.testing.assert_allclose(rows[-1, REF_V], rate[:3], atol=1e-3)
    assert isinstance(made.source, Goal)
    np.testing.assert_allclose(made.source.periods, 0.1)  # of 10 Hz
    assert len(made.source.periods) == 20


def test_a_singular_pose_ends_the_flight() -> None:
    strict = {**MOTION["control"], "singular": 0.99, "weights": [1e6] * 4 + [1.0] * 3}
    made = guidance(np.array([0.0, 0.0, 0.3, 0.0]), control=strict)
    with pytest.raises(FlightFailed, match="singular"):
        led(made, 0.5)


def test_velocities_of_the_published_law_begin_after_the_lead() -> None:
    motion = validate(
        TipVelocities, read_yaml(SCENARIOS.file("arm_path"))["arm"]["motion"], source="test"
    )
    guide = motion.guide(ARM, LEAD, DT)
    x = np.zeros(13)
    x[P], x[6] = START, 1.0
    row = np.zeros(REF_FIXED)
    row[REF_Q] = x[Q]
    q = np.full(len(ARM.record.joints), 0.4)
    first = round(LEAD / DT)
    reference = Reference(row, Level.POSE, np.zeros(6))
    assert guide(first - 1, x, q, 0.0 * q, reference) is None
    targets = guide(first, x, q, 0.0 * q, reference)
    assert targets is not None
    assert targets.reference.level == Level.VELOCITY
    np.testing.assert_allclose(targets.q, q)
    assert guide.tip_reference(LEAD - DT) is None
    np.testing.assert_allclose(
        guide.tip_reference(LEAD), motion.path.at(np.zeros(1))[0][0][:3], atol=1e-9
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rate": 1e6}, "1e\\+06 m or m/s: .* give 3.65 and 1.9e\\+06"),
        ({"offset": -1e6, "amplitude": 1.0}, "give 1e\\+06 and 0.1"),
    ],
)
def test_a_path_that_no_end_effector_follows_is_refused(
    change: dict[str, float], words: str
) -> None:
    axis = {"offset": 1.75, "amplitude": 1.9, "rate": 0.1, "phase_deg": 0.0}
    assert Harmonic.model_validate(axis).amplitude == 1.9
    with pytest.raises(ValidationError, match=words):
        Harmonic.model_validate(axis | change)


def test_velocities_that_no_vehicle_has_end_the_flight() -> None:
    tree = read_yaml(SCENARIOS.file("arm_path"))["arm"]["motion"]
    tree["control"] |= {"slope": [1e15] * 4, "speed": [1e15] * 4}
    guide = validate(TipVelocities, tree, source="test").guide(ARM, 0.0, DT)
    x, row = resting_state(START, so3.IDENTITY), np.zeros(REF_FIXED)
    q = np.full(len(ARM.record.joints), 0.4)
    with pytest.raises(FlightFailed, match="asks for .*e\\+1. m/s or rad/s") as failure:
        guide(0, x, q, 0.0 * q, Reference(row, Level.POSE, np.zeros(6)))
    assert failure.value.outcome == "diverged"


def test_a_platform_is_led_on_from_the_place_and_heading_of_its_reference() -> None:
    made, assembly = guidance(np.array([0.1, 0.0, 0.0, 0.0]), alone=True), ARM
    assert assembly is not None
    q = so3.quaternion_exp(np.array([0.0, 0.0, 0.7]))
    x, nominal = resting_state(START, q), np.zeros(REF_FIXED + 1)
    nominal[REF_P], nominal[REF_Q] = START + 0.5, q
    home = assembly.record.home_pose.copy()
    found = made(round(LEAD / DT), x, home, np.zeros(len(home)), Reference(nominal))
    assert found is not None
    np.testing.assert_allclose(found.reference.row[REF_P], START + 0.5)
    np.testing.assert_allclose(found.reference.row[REF_Q], q, atol=1e-12)
    np.testing.assert_allclose(found.q, home)
    a = found.reference.row[REF_A]
    np.testing.assert_allclose(
        a / np.linalg.norm(a), [1.0, 0.0, 0.0], atol=0.05
    )  # rates are of the world
    assert made(round(LEAD / DT) - 1, x, home, np.zeros(len(home)), Reference(nominal)) is None
