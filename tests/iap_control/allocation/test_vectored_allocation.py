# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from flying import controller_of, gains_of, model_of

from iap_control.actuation.kinds import platform_model
from iap_control.actuation.vectored import check_attitudes
from iap_control.allocation.allocator import Allocator
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.signals import Reference
from iap_description.states import Level, Mode
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.health import Health
from iap_description.vehicles.platform import load_platform

BEETLE = load_platform("beetle").aircraft
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
WEIGHT = BEETLE.mass * 9.81


def allocator(model=None):
    return Allocator(model or model_of("beetle"), rate_filter=0.01, dt=0.005)


def made_by(command):
    """(6,) the wrench of commanded speeds and angles: eqs. (1), (3), (4) of beatle, written out."""
    wrench = np.zeros(6)
    for rotor, n, b in zip(BEETLE.rotors, command.rpm[0], command.tilt[0], strict=True):
        x, y, _ = rotor.position
        a = np.arctan2(y, x)
        t = np.array([-np.sin(a), np.cos(a), 0.0])
        force = BEETLE.rotor.c_f * n * n * (-np.sin(b) * t + np.cos(b) * np.array([0.0, 0.0, 1.0]))
        s = 1.0 if rotor.spin == "ccw" else -1.0
        torque = np.cross(rotor.position, force) - BEETLE.rotor.torque_ratio * s * force
        wrench += [*force, *torque]
    return wrench


def test_a_module_pushes_along_six_axes():
    """Singular values of the 6 x 8 map, the levers in metres."""
    model = model_of("beetle")
    assert model.actuation.name == "vectored" and model.controlled_angles == (True, True, True)
    found = np.linalg.svd(model.B, compute_uv=False)
    np.testing.assert_allclose(found, [2.0, 1.41, 1.41, 0.38, 0.27, 0.27], atol=0.01)


@pytest.mark.parametrize("seed", range(5))
def test_commands_make_the_wrench_that_is_asked_for(seed):
    rng = np.random.default_rng(seed)
    U = rng.normal(0.0, 1.0, 6) * [8.0, 8.0, 6.0, 0.4, 0.4, 0.4] + [0, 0, WEIGHT, 0, 0, 0]
    allocate = allocator()
    command = allocate(U, LEVEL, np.zeros(1))
    assert command.mode == Mode.RPM and not allocate.saturated
    np.testing.assert_allclose(made_by(command), U, atol=1e-9)
    np.testing.assert_array_equal(allocate.short, 0.0)
    assert command.thrust[0] == pytest.approx((BEETLE.rotor.c_f * command.rpm**2).sum())


def test_they_are_those_of_least_norm():
    """No other thrusts that make the wrench have a smaller sum of squares."""
    U = np.array([4.0, -3.0, WEIGHT, 0.5, -0.4, 0.2])
    command, A = allocator()(U, LEVEL, np.zeros(1)), BEETLE.wrench_of_tilted_thrusts
    null = np.linalg.svd(A)[2][6:]
    thrusts = BEETLE.rotor.c_f * command.rpm[0] ** 2
    parts = np.column_stack([thrusts * np.cos(command.tilt[0]), thrusts * np.sin(command.tilt[0])])
    np.testing.assert_allclose(null @ parts.ravel(), 0.0, atol=1e-9)


def test_beyond_the_limits_thrusts_are_clipped_and_the_lack_is_reported():
    U = np.array([30.0, 0.0, 3.0 * WEIGHT, 0.0, 0.0, 0.0])
    allocate = allocator()
    command = allocate(U, LEVEL, np.zeros(1))
    assert allocate.saturated
    low, high = allocate.model.rotor_limits
    thrusts = BEETLE.rotor.c_f * command.rpm[0] ** 2
    assert (thrusts <= high * (1 + 1e-12)).all() and (thrusts >= low * (1 - 1e-12)).all()
    np.testing.assert_allclose(allocate.short, U - made_by(command), atol=1e-9)
    np.testing.assert_allclose(allocate.made_P, made_by(command), atol=1e-9)


def test_integrals_stand_still_where_thrusts_are_clipped():
    """Anti-windup: a module that is told to rise faster than it can does not learn from it."""
    controller = controller_of("beetle", gains_of("beetle"))
    heavy = np.zeros(20)
    heavy[6] = 1.0
    x = np.zeros(13)
    x[6], x[2] = 1.0, -0.1
    reference = Reference(heavy.copy(), Level.POSE)
    reference.row[15] = 30.0  # [m/s^2]
    for _ in range(200):
        controller(x, reference)
    assert controller.allocator.saturated
    assert abs(controller._law.integral[2]) <= 0.1 * 0.005 + 1e-12  # that of the first step
    reference.row[15] = 0.0
    for _ in range(200):
        controller(x, reference)
    assert abs(controller._law.integral[2]) > 0.05


def test_a_module_that_lost_a_rotor_is_allocated_to_the_rest():
    health = Health.sound([BEETLE])
    health.thrust[0, 2] = 0.0
    allocate = allocator(model_of("beetle").weakened(health))
    U = np.array([0.0, 0.0, 0.6 * WEIGHT, 0.5, -0.5, 0.0])  # towards the rotor that is lost
    command = allocate(U, LEVEL, np.zeros(1))
    assert command.rpm[0, 2] == 0.0 and not allocate.saturated
    np.testing.assert_allclose(made_by(command), U, atol=1e-9)


def test_rotors_whose_arms_are_parallel_are_refused():
    tree = load_platform("beetle").model_dump()
    for rotor in tree["aircraft"]["rotors"]:
        rotor["arm"] = [1.0, 0.0, 0.0]
    platform = type(load_platform("beetle")).model_validate(tree)
    with pytest.raises(BadInput, match="along 5 of 6 axes"):
        platform_model(Assembly.of(platform), platform.fleet, gravity=9.81, com_coupling=True)


def test_tilting_aircraft_on_joints_are_refused():
    tree = load_platform("three_star").model_dump()
    tree["aircraft"]["tilt"] = {"limit_deg": 90.0, "rate": 3.0, "time_constant": 0.05}
    platform = type(load_platform("beetle")).model_validate(tree)
    with pytest.raises(BadInput, match="on joints whose rotors tilt"):
        platform_model(Assembly.of(platform), platform.fleet, gravity=9.81, com_coupling=True)


@pytest.mark.parametrize(
    ("rpy_deg", "reason"),
    [
        ([0.0, 70.0, 0.0], None),
        ([-70.0, 0.0, 30.0], None),
        (
            [0.0, 80.0, 0.0],
            r"pitch 80.0, yaw 0.0 deg rotor \d would have to tilt by -?91.5 deg, its limit is 90.0",
        ),
        ([45.0, 45.0, 0.0], r"would have to push 20.68 N, its limits are 0.94 and 18.80"),
    ],
)
def test_attitudes_are_held_up_to_the_rotors_limits(rpy_deg, reason):
    R = so3.matrix_from_euler(np.deg2rad(rpy_deg))
    attitudes = so3.quaternion_from_matrix(R)[None]
    if reason is None:
        check_attitudes(model_of("beetle"), attitudes, "iap")
        return
    with pytest.raises(BadInput, match=reason):
        check_attitudes(model_of("beetle"), attitudes, "iap")


def test_leaning_rotors_give_up_what_pushes_sideways_and_go_on_turning():
    model = model_of("octo_full")
    allocate = allocator(model)
    weight = model.inertia.mass * 9.81
    U = np.array([40.0, 0.0, weight, 0.3, -0.2, 0.1])
    U[3:] += np.cross(model.inertia.d_0, U[:3])
    allocate(U, LEVEL, np.zeros(2))
    made = allocate.made_P
    assert allocate.saturated and 0.0 < made[0] < 40.0
    about_com = made[3:] - np.cross(model.inertia.d_0, made[:3])
    np.testing.assert_allclose(about_com, [0.3, -0.2, 0.1], atol=1e-9)
    np.testing.assert_allclose(made[1:3], [0.0, weight], atol=1e-9)
