# SPDX-License-Identifier: BSD-3-Clause
r"""The wrench of the environment without a force sensor: a momentum observer, beatle eqs. (28)-(38).

What the platform's momentum gains beyond what thrust and weight give it comes from outside. Both
momenta are those of the platform about its common CoM in world axes, where no Coriolis term
appears: p = m v_C and L = R J_C R^T w, the aircraft on spherical joints being points. The residual

.. math::
    r = K_I \left[ p(t) - p(0) - \int (f + r)\,dt \right], \qquad \dot r = K_I (f_e - r)

is the external wrench behind a first-order low-pass. Over one control period the mean external
wrench is the gain of momentum less the mean thrust and weight, whence r_k = r_{k-1} + (1 - e^{-K_I
dt}) (f_e - r_{k-1}): stable for every gain, and exact for a constant wrench.

Air drag and wind are external too, and so is a wrong mass.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.math.kernels import add, cross, put, quat, rotate, scale, unrotate, vec
from iap_description.math.momentum import inertia_about_com, momentum_about_com
from iap_description.states import Command, Mode
from iap_description.vehicles.aircraft import Aircraft
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.autopilot_gains import AutopilotGains
from iap_estimation.wrench.thrust_model import ThrustModel, first_speeds, follow, thrust_axis

Order = tuple[int, Array, Array, Array, Array]  # mode, thrusts, attitudes, rates, rotor speeds


class Momenta(NamedTuple):
    """A platform as the compiled observer takes it.

    Attributes:
        mass: total mass [kg].
        weight: m g [N].
        d_0: (3,) the common CoM in P [m].
        J_C: (3, 3) inertia about it, axes of P [kg m^2].
        arms: (N, 3) from it to each aircraft, in P [m].
        bodies: (N,) state row of each aircraft.
        turns: whether the aircraft turn freely; if not, their rotors' torque acts on the platform.
    """

    mass: float
    weight: float
    d_0: Array
    J_C: Array
    arms: Array
    bodies: Integers
    turns: bool

    @classmethod
    def of(cls, assembly: Assembly, gravity: float) -> Self:
        """The platform of an assembly."""
        bodies = np.array(assembly.aircraft, dtype=np.int64)
        return cls(
            assembly.mass,
            assembly.mass * gravity,
            assembly.d_0,
            inertia_about_com(assembly.inertia, assembly.mass, assembly.d_0),
            assembly.p_PB_P[bodies] - assembly.d_0,
            bodies,
            assembly.is_jointed,
        )


class ObserverMemory(NamedTuple):
    """Memory of the observer from the last control step.

    Attributes:
        x: (bodies, 13) the state.
        momentum: (6,) linear and angular, world axes [N s, N m s].
        rpm: (N, 4) rotor speeds [rpm].
        residual: (6,) r about the CoM, world axes [N, N m].
        started: (1,) 0 before the first step.
    """

    x: Array
    momentum: Array
    rpm: Array
    residual: Array
    started: Array

    @classmethod
    def empty(cls, bodies: int, count: int) -> Self:
        """Nothing is known yet."""
        return cls(
            np.zeros((bodies, 13)), np.zeros(6), np.zeros((count, 4)), np.zeros(6), np.zeros(1)
        )


def _check_alike(assembly: Assembly, fleet: Sequence[Aircraft]) -> None:
    """Refuse platforms that the models here do not hold for, by the key of the first joint that is unlike."""
    for i, (joint, aircraft) in enumerate(zip(assembly.joints, fleet, strict=False)):
        unlike = {
            "aircraft": aircraft != fleet[0] or not aircraft.turns_itself,
            "type": joint.type != assembly.joints[0].type
            or (joint.kind.is_free and not joint.kind.turns_freely),
            "offset": joint.kind.turns_freely and bool(joint.p_CJ_C.any()),
        }
        for key in (key for key, is_unlike in unlike.items() if is_unlike):
            raise BadInput(
                f"vehicle '{assembly.name}': key 'platform.joints.{i}.{key}': wrench observers take equal quadrotors"
                " on equal joints at their CoMs, spherical or fixed ones"
            )


class PlatformObserver:
    """Base of the observers of one platform: its model, and the memory from the last control step.

    Args:
        assembly: the platform as the model has it.
        fleet: the sub-aircraft's records, which must be equal.
        autopilot: gains of the sub-aircraft's autopilots; with gains of zero, an aircraft's rotors count as equal.
        gravity: [m/s^2].
        dt: control period [s].

    Raises:
        BadInput: aircraft or joints differ, or a joint is off its aircraft's CoM.
    """

    def __init__(
        self,
        assembly: Assembly,
        fleet: Sequence[Aircraft],
        autopilot: AutopilotGains,
        *,
        gravity: float,
        dt: float,
    ) -> None:
        _check_alike(assembly, fleet)
        self._models = Momenta.of(assembly, gravity), ThrustModel.of(fleet[0], autopilot, dt)
        self._dt, self._size = dt, (len(assembly.bodies), len(assembly.aircraft))
        self._wrench_P = np.zeros(6)
        self.reset()

    def reset(self) -> None:
        """Forget the past; the first state after it gives no wrench."""
        self._memory = ObserverMemory.empty(*self._size)


class MomentumObserver(PlatformObserver):
    """Estimates the wrench of the environment on one platform.

    Args:
        assembly: see `PlatformObserver`.
        fleet: as there.
        autopilot: as there.
        gravity: [m/s^2].
        gain: (6,) K_I, forces and torques along world axes [1/s].
        dt: control period [s].
    """

    def __init__(
        self,
        assembly: Assembly,
        fleet: Sequence[Aircraft],
        autopilot: AutopilotGains,
        *,
        gravity: float,
        gain: Array | Sequence[float],
        dt: float,
    ) -> None:
        super().__init__(assembly, fleet, autopilot, gravity=gravity, dt=dt)
        self._share = -np.expm1(-np.asarray(gain, dtype=float) * dt)

    def __call__(self, x: Array, command: Command) -> Array:
        """Estimated wrench (6,) about P's origin in P [N, N m]; overwritten by the next call.

        Args:
            x: (bodies, 13) state now; of the aircraft, attitude and rate count.
            command: command of the aircraft since the last state.

        Raises:
            BadInput: the command is a platform's wrench, which does not say what the aircraft do.
        """
        order, times = order_of(command, "momentum observer"), (self._share, self._dt)
        _observe(x, order, self._models, times, self._memory, self._wrench_P)
        return self._wrench_P


def order_of(command: Command, source: str) -> Order:
    """A command as compiled observers take it; `source` is named in errors.

    Raises:
        BadInput: it is a platform's wrench, which does not say what the aircraft do.
    """
    if command.mode == Mode.WRENCH:
        raise BadInput(f"{source}: a command of mode 'wrench' names no thrusts")
    return int(command.mode), command.thrust, command.q_WB, command.w_WB_B, command.rpm


@njit(cache=True)
def _observe(
    x: Array,
    order: Order,
    models: tuple[Momenta, ThrustModel],
    times: tuple[Array, float],
    memory: ObserverMemory,
    wrench_P: Array,
) -> None:
    """Advance the residual by one period and express it in P."""
    platform, _ = models
    share, dt = times
    body = (platform.mass, platform.d_0, platform.J_C)
    force, torque = momentum_about_com(x[0], *body)
    if memory.started[0] == 0.0:
        begin_rotors(order, models, memory)
    else:
        applied = np.zeros(6)
        applied[2] = -platform.weight
        add_thrusts(x, order, models, memory, applied)
        for i in range(6):
            gain = (force[i] if i < 3 else torque[i - 3]) - memory.momentum[i]
            memory.residual[i] += share[i] * (gain / dt - applied[i] - memory.residual[i])
    memory.x[:] = x
    put(memory.momentum, force)
    put(memory.momentum[3:], torque)
    put_residual(platform, memory, wrench_P)


@njit(cache=True)
def begin_rotors(
    order: Order, models: tuple[Momenta, ThrustModel], memory: ObserverMemory
) -> None:
    """Begin with rotors that have long followed their command."""
    mode, thrust, _, _, rpm = order
    for i in range(len(thrust)):
        first_speeds(mode, thrust[i], rpm[i], models[1], memory.rpm[i])
    memory.started[0] = 1.0


@njit(cache=True)
def put_residual(platform: Momenta, memory: ObserverMemory, wrench_P: Array) -> None:
    """Express the residual, about the CoM in world axes, about P's origin in P."""
    q = quat(memory.x[0, 3:7])
    force_P = unrotate(q, vec(memory.residual))
    torque_P = unrotate(q, vec(memory.residual[3:]))
    put(wrench_P, force_P)
    put(wrench_P[3:], add(torque_P, cross(vec(platform.d_0), force_P)))


@njit(cache=True)
def add_thrusts(
    x: Array,
    order: Order,
    models: tuple[Momenta, ThrustModel],
    memory: ObserverMemory,
    total: Array,
) -> None:
    """Add the aircraft's mean thrusts over a period to the wrench (6,) about the CoM, world axes.

    Each acts along the mean of its directions at both ends, with its lever there.
    """
    platform, rotorcraft = models
    mode, thrust, q_r, w_r, rpm_r = order
    for i in range(len(platform.bodies)):
        body = platform.bodies[i]
        command = (mode, thrust[i], q_r[i], w_r[i], rpm_r[i])
        lift, torque = follow(command, memory.x[body], x[body], rotorcraft, memory.rpm[i])
        for state in (memory.x, x):
            f = scale(0.5 * lift, thrust_axis(state[body]))
            moment = cross(rotate(quat(state[0, 3:7]), vec(platform.arms[i])), f)
            if not platform.turns:
                moment = add(moment, rotate(quat(state[body, 3:7]), scale(0.5, torque)))
            for k in range(3):
                total[k] += f[k]
                total[3 + k] += moment[k]
