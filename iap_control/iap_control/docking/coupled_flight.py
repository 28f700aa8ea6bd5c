# SPDX-License-Identifier: BSD-3-Clause
r"""Law of both vehicles of a docking from the lock on: they fly as one body to the place at which they are to dock.

Mean position p and velocity v of both CoMs are observed as those of either vehicle are
(`iap_control.docking.vehicle_control`), with a disturbance d of the pair on top of each vehicle's own from before the
catch, so that each carries its own weight. Both are asked for the same acceleration

.. math:: a = \mathrm{sat}(k_p e + k_i \int \mathrm{sat}(e) - k_d \hat v) - \hat d, \qquad
    e = \mathrm{sat}(p_r - \hat p),

of which each takes its own disturbance. The locked body has several times the inertia for which the rate loops were
made. Their gain falls by that factor, see `PairParameters.coupled_rate_gain`, and attitude gains with it.
"""

from typing import NamedTuple

from numba import njit

from iap_control.docking.settings import CoupledParameters, ScriptParameters
from iap_control.docking.vehicle_control import (
    DISTURBANCE,
    OBSERVED_POSITION,
    OBSERVED_VELOCITY,
    POSITION,
    THRUST,
    VELOCITY,
    PairParameters,
    clipped,
    clipped3,
    note_command,
    thrust_command,
)
from iap_description.arrays import Array
from iap_description.math.kernels import (
    Vec,
    add,
    put_at,
    qconj,
    qlog,
    qmul,
    quat_at,
    rotate,
    scale,
    sub,
    vec_at,
)

# Indices of the law's memory.
PAIR_POSITION, PAIR_VELOCITY, PAIR_DISTURBANCE, INTEGRAL, BEGUN, COUPLED_SIZE = 0, 3, 6, 9, 12, 13


class PairLaws(NamedTuple):
    """Constants of all laws of a docking pair.

    Attributes:
        coupled: gains of the coupled flight.
        script: gains and distances of the approach, gains of observers and attitudes.
        pair: constants of both vehicles.
    """

    coupled: CoupledParameters
    script: ScriptParameters
    pair: PairParameters


@njit(cache=True)
def coupled_command(
    measured: tuple[Array, Array],
    predicted: tuple[Array, Array],
    laws: PairLaws,
    observers: tuple[Array, Array],
    memory: Array,
    out: Array,
) -> None:
    """Write the commands of a locked pair at one control instant.

    Args:
        measured: state rows (13,) of target and chaser.
        predicted: the same at the instant at which the commands act.
        laws: of the pair.
        observers: memories of both vehicles.
        memory: (COUPLED_SIZE,) zero before the lock; advanced in place.
        out: (2, 4) thrust [N] and body rates (3,) [rad/s] of target and chaser, written.
    """
    gains, script, pair = laws.coupled, laws.script, laws.pair
    if memory[BEGUN] == 0.0:
        _begin(observers, memory)
    _observe(measured, laws, observers, memory)
    a = _acceleration(laws, observers, memory)
    for i in range(2):
        a_i = sub(a, vec_at(observers[i], DISTURBANCE))
        q_WB = quat_at(predicted[i], 3)
        thrust, q = thrust_command(a_i, q_WB, pair.mass, pair.gravity)
        turn = qlog(qmul(qconj(q_WB), q))
        out[i, 0] = thrust
        for k in range(3):
            out[i, 1 + k] = clipped(gains.turn_gain[k] * turn[k], gains.rate_limit[k])
        note_command(out[i], script, pair, observers[i])


@njit(cache=True)
def _begin(observers: tuple[Array, Array], memory: Array) -> None:
    """Begin at what the vehicles' observers have, on average."""
    memory[BEGUN] = 1.0
    put_at(memory, PAIR_POSITION, _mean(observers, OBSERVED_POSITION))
    put_at(memory, PAIR_VELOCITY, _mean(observers, OBSERVED_VELOCITY))
    put_at(memory, PAIR_DISTURBANCE, (0.0, 0.0, 0.0))
    put_at(memory, INTEGRAL, (0.0, 0.0, 0.0))


@njit(cache=True)
def _observe(
    measured: tuple[Array, Array],
    laws: PairLaws,
    observers: tuple[Array, Array],
    memory: Array,
) -> None:
    """Advance the pair's observer to measured rows."""
    gains, script, pair = laws.coupled, laws.script, laws.pair
    dt, a = pair.dt, (0.0, 0.0, -pair.gravity)
    for i in range(2):
        lift = (0.0, 0.0, observers[i][THRUST] / pair.mass)
        a_i = add(rotate(quat_at(measured[i], 3), lift), vec_at(observers[i], DISTURBANCE))
        a = add(a, scale(0.5, a_i))
    p, v = vec_at(memory, PAIR_POSITION), vec_at(memory, PAIR_VELOCITY)
    d = vec_at(memory, PAIR_DISTURBANCE)
    p, v = add(p, scale(dt, v)), add(v, scale(dt, add(a, d)))
    p = add(p, scale(dt * script.position_gain, sub(_mean(measured, 0), p)))
    off = sub(_mean(measured, 7), v)
    v = add(v, scale(dt * script.velocity_gain, off))
    d = clipped3(add(d, scale(dt * gains.disturbance_gain, off)), script.disturbance_limit)
    put_at(memory, PAIR_POSITION, p)
    put_at(memory, PAIR_VELOCITY, v)
    put_at(memory, PAIR_DISTURBANCE, d)


@njit(cache=True)
def _acceleration(laws: PairLaws, observers: tuple[Array, Array], memory: Array) -> Vec:
    """Acceleration [m/s^2] of the pair; the integral is advanced.

    The pair is ahead of its observer by what its vehicles are predicted to move, on average.
    """
    gains, script, pair = laws.coupled, laws.script, laws.pair
    p = sub(_mean(observers, POSITION), _mean(observers, OBSERVED_POSITION))
    v = sub(_mean(observers, VELOCITY), _mean(observers, OBSERVED_VELOCITY))
    p, v = add(vec_at(memory, PAIR_POSITION), p), add(vec_at(memory, PAIR_VELOCITY), v)
    error = clipped3(sub(gains.place, p), gains.reach)
    growth = scale(pair.dt * gains.integral, clipped3(error, gains.integral_reach))
    integral = clipped3(add(vec_at(memory, INTEGRAL), growth), gains.integral_limit)
    put_at(memory, INTEGRAL, integral)
    pull = add(sub(scale(gains.stiffness, error), scale(gains.damping, v)), integral)
    return sub(clipped3(pull, script.limit), vec_at(memory, PAIR_DISTURBANCE))


@njit(cache=True)
def _mean(rows: tuple[Array, Array], k: int) -> Vec:
    """Mean of three columns of two rows."""
    return scale(0.5, add(vec_at(rows[0], k), vec_at(rows[1], k)))
