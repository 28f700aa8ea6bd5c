# SPDX-License-Identifier: BSD-3-Clause
r"""The attitude that an autopilot estimates from sensors of its own, as PX4's complementary filter does, compiled.

A gyroscope reads the mean rate :math:`\omega_m` since the last instant, an accelerometer the mean specific force f, a
magnetometer the field m of which the level part points north. With the estimate R, the filter turns by

.. math::
    \omega = \omega_m - b + c, \quad c = k_a\, \frac{f - R^T \hat a}{|f - R^T \hat a|} \times R^T e_z
    + k_m\, \psi\, R^T e_z, \quad \dot b = -k_b\, c,

where psi is the angle from north to the level part of R m, and b the gyroscope's bias. The acceleration
:math:`\hat a` is the last difference of a satellite receiver's velocities. Without it, an aircraft's own thrust pulls
the estimate: in the air a multirotor's accelerometer feels little but its thrust, along its own z axis.

This is `AttitudeEstimatorQ::update` of PX4/PX4-Autopilot, src/modules/attitude_estimator_q. The weights are ATT_W_ACC,
ATT_W_MAG and ATT_W_GYRO_BIAS, the bias's limit is ATT_BIAS_MAX, and velocities come by ATT_ACC_COMP. As there, biases
are found below 0.175 rad/s only, and k_m grows with rates above 0.873 rad/s. It goes back to Mahony, Hamel and
Pflimlin, "Nonlinear complementary filters on the special orthogonal group", 2008. PX4's larger filter is EKF2, with
states of position and wind; it runs where this one does not.

What sensors read wrongly is counted: a function of a key, which a flight draws, and of the instant's number. World i of
a batch so reads what its single run does.
"""

import math
from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_description.math.kernels import (
    Quat,
    Vec,
    add,
    cross,
    halfway,
    least,
    most,
    norm,
    put4,
    put_at,
    qconj,
    qlog,
    qmul,
    qnormalize,
    qrate,
    quat_at,
    rotate,
    scale,
    sub,
    unrotate,
    vec_at,
)
from iap_description.math.random_streams import four_normals
from iap_description.vehicles.autopilot_gains import AutopilotGains

# Columns of an aircraft's memory: the estimate, what was true at the last instant, and the sensors' errors.
KEY, COUNT, ATTITUDE, BIAS = 0, 1, 2, 6
TRUE_ATTITUDE, TRUE_VELOCITY = 9, 13
GYROSCOPE_BIAS, ACCELEROMETER_BIAS, VELOCITY, ACCELERATION = 16, 19, 22, 25
SIZE = 28
SOURCE = 0x494D55  # of the sensors' errors, beside others that are counted by a key
BLOCKS = 4  # of four normal numbers, that an instant may draw; those of the first are the biases
MOST_KEY = 2**53  # keys are whole in double precision
CALM_RATE, FAST_RATE, MOST_GAIN = 0.175, 0.873, 10.0  # PX4's: 10 and 50 deg/s
UP = (0.0, 0.0, 1.0)


class EstimatorNumbers(NamedTuple):
    """One aircraft's filter and sensors as the compiled loop takes them.

    Attributes:
        accelerometer: k_a [1/s].
        magnetometer: k_m [1/s].
        bias: k_b [1/s].
        bias_limit: of each axis [rad/s].
        velocity_every: instants between velocities; 0 without.
        gyroscope_white: deviation of a sample's noise [rad/s].
        gyroscope_bias: deviation of its bias [rad/s].
        accelerometer_white: deviation of a sample's noise [m/s^2].
        accelerometer_bias: deviation of its bias [m/s^2].
        magnetometer_white: deviation of a sample's noise, over the field's strength.
        velocity_white: deviation of a velocity's noise [m/s].
        level: share of the field that is level.
        down: share of it that points down.
        gravity: [m/s^2].
        dt: between instants [s].
    """

    accelerometer: float
    magnetometer: float
    bias: float
    bias_limit: float
    velocity_every: float
    gyroscope_white: float
    gyroscope_bias: float
    accelerometer_white: float
    accelerometer_bias: float
    magnetometer_white: float
    velocity_white: float
    level: float
    down: float
    gravity: float
    dt: float

    @classmethod
    def of(cls, gains: AutopilotGains, gravity: float) -> Self:
        """The numbers of an autopilot; zeros where it has no estimator."""
        estimator, rate = gains.estimator, gains.rate_hz
        if estimator is None or rate is None:
            return cls(*[0.0] * len(cls._fields))
        sensors, root = estimator.sensors, math.sqrt(rate)
        dip, velocity_hz = math.radians(sensors.inclination_deg), estimator.velocity_hz
        return cls(
            estimator.accelerometer,
            estimator.magnetometer,
            estimator.gyroscope_bias,
            estimator.bias_limit,
            0.0 if velocity_hz is None else float(round(rate / velocity_hz)),
            sensors.gyroscope_noise * root,
            sensors.gyroscope_bias,
            sensors.accelerometer_noise * root,
            sensors.accelerometer_bias,
            sensors.magnetometer_noise * root,
            sensors.velocity_noise,
            math.cos(dip),
            math.sin(dip),
            gravity,
            1.0 / rate,
        )


def memory_size(gains: AutopilotGains) -> int:
    """Numbers that an estimator remembers of one aircraft; 0 without one."""
    return 0 if gains.estimator is None else SIZE


class Sample(NamedTuple):
    """Readings of an autopilot's sensors: rate [rad/s], specific force [m/s^2], field over its strength."""

    w_B: Vec
    f_B: Vec
    field_B: Vec


@njit(cache=True)
def estimate(memory: Array, row: Array, numbers: EstimatorNumbers) -> tuple[Quat, Vec]:
    """Attitude, and the gyroscope's body rate [rad/s] without the bias that was found, at an instant.

    Args:
        memory: (SIZE,) of the aircraft, changed in place.
        row: (13,) its true state, which the sensors measure.
        numbers: of its filter and sensors.
    """
    q, v, w = quat_at(row, 3), vec_at(row, 7), unrotate(quat_at(row, 3), vec_at(row, 10))
    key, count = int(memory[KEY]), int(memory[COUNT])
    if count == 0:
        _begin(memory, q, v, key, numbers)
        noise = (0.0, 0.0, 0.0)
    else:
        a = four_normals(BLOCKS * count, key, SOURCE)
        b = four_normals(BLOCKS * count + 1, key, SOURCE)
        c = four_normals(BLOCKS * count + 2, key, SOURCE)
        noise = scale(numbers.gyroscope_white, (a[0], a[1], a[2]))
        if numbers.velocity_every > 0.0 and count % int(numbers.velocity_every) == 0:
            _measure_velocity(memory, v, (c[1], c[2], c[3]), numbers)
        force = scale(numbers.accelerometer_white, (a[3], b[0], b[1]))
        field = scale(numbers.magnetometer_white, (b[2], b[3], c[0]))
        _turn(memory, _sampled(memory, q, v, (noise, force, field), numbers), numbers)
    put4(memory[TRUE_ATTITUDE : TRUE_ATTITUDE + 4], q)
    put_at(memory, TRUE_VELOCITY, v)
    memory[COUNT] = count + 1.0
    read = add(add(w, noise), vec_at(memory, GYROSCOPE_BIAS))
    return quat_at(memory, ATTITUDE), sub(read, vec_at(memory, BIAS))


@njit(cache=True)
def _begin(memory: Array, q: Quat, v: Vec, key: int, numbers: EstimatorNumbers) -> None:
    """Begin with an attitude that was found at rest, and draw the sensors' biases."""
    memory[COUNT:] = 0.0
    put4(memory[ATTITUDE : ATTITUDE + 4], q)
    put_at(memory, VELOCITY, v)
    a, b = four_normals(0, key, SOURCE), four_normals(1, key, SOURCE)
    put_at(memory, GYROSCOPE_BIAS, scale(numbers.gyroscope_bias, (a[0], a[1], a[2])))
    put_at(memory, ACCELEROMETER_BIAS, scale(numbers.accelerometer_bias, (a[3], b[0], b[1])))


@njit(cache=True)
def _measure_velocity(memory: Array, v: Vec, normals: Vec, numbers: EstimatorNumbers) -> None:
    """Take a satellite receiver's velocity, of which the difference to the last one is the acceleration."""
    read = add(v, scale(numbers.velocity_white, normals))
    hz = 1.0 / (numbers.velocity_every * numbers.dt)
    put_at(memory, ACCELERATION, scale(hz, sub(read, vec_at(memory, VELOCITY))))
    put_at(memory, VELOCITY, read)


@njit(cache=True)
def _sampled(
    memory: Array, q: Quat, v: Vec, noise: tuple[Vec, Vec, Vec], numbers: EstimatorNumbers
) -> Sample:
    """Means since the last instant, of rate and specific force, and the field, with their errors."""
    last, hz = quat_at(memory, TRUE_ATTITUDE), 1.0 / numbers.dt
    rate = scale(hz, qlog(qmul(qconj(last), q)))
    a = scale(hz, sub(v, vec_at(memory, TRUE_VELOCITY)))
    force = unrotate(halfway(last, q), (a[0], a[1], a[2] + numbers.gravity))
    field = unrotate(q, (0.0, numbers.level, -numbers.down))
    return Sample(
        add(add(rate, noise[0]), vec_at(memory, GYROSCOPE_BIAS)),
        add(add(force, noise[1]), vec_at(memory, ACCELEROMETER_BIAS)),
        add(field, noise[2]),
    )


@njit(cache=True)
def _turn(memory: Array, sample: Sample, numbers: EstimatorNumbers) -> None:
    """Turn the estimate by a sample, and move the bias."""
    q, spin = quat_at(memory, ATTITUDE), norm(sample.w_B)
    up = unrotate(q, UP)
    upward = sub(sample.f_B, unrotate(q, vec_at(memory, ACCELERATION)))
    size = norm(upward)
    field = rotate(q, sample.field_B)
    heading = numbers.magnetometer * math.atan2(field[0], field[1])
    if spin > FAST_RATE:
        heading *= least(spin / FAST_RATE, MOST_GAIN)
    turn = scale(heading, up)
    if size > 0.0:
        turn = add(turn, scale(numbers.accelerometer / size, cross(upward, up)))
    bias = vec_at(memory, BIAS)
    if spin < CALM_RATE:
        bias = sub(bias, scale(numbers.bias * numbers.dt, turn))
        limit = numbers.bias_limit
        bias = (
            least(most(bias[0], -limit), limit),
            least(most(bias[1], -limit), limit),
            least(most(bias[2], -limit), limit),
        )
        put_at(memory, BIAS, bias)
    dq = qrate(q, add(sub(sample.w_B, bias), turn))
    h = numbers.dt
    turned = (q[0] + h * dq[0], q[1] + h * dq[1], q[2] + h * dq[2], q[3] + h * dq[3])
    put4(memory[ATTITUDE : ATTITUDE + 4], qnormalize(turned))


def keys(rng: np.random.Generator, count: int) -> Array:
    """Keys (count,) of aircraft, which a flight's generator draws for the errors of their sensors."""
    return rng.integers(MOST_KEY, size=count).astype(np.float64)
