# SPDX-License-Identifier: BSD-3-Clause
"""Rotors of an imported vehicle: what its file says, and what options say in its place."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from iap_bringup.importing.vehicle_model import RotorSource, Spin, VehicleModel
from iap_description.assets.poses import Tree
from iap_description.errors import BadInput

RPM = 2.0 * np.pi / 60.0  # [rad/s]
ASSUMED_RPM, ASSUMED_TIMES = 10_000.0, (0.04, 0.06)  # where nothing says them
IDLE = 0.1  # of the largest speed
ABOVE_ZERO = {
    "thrust_max": "--max-thrust",
    "torque_ratio": "--torque-ratio",
    "rpm_max": "--rpm-max",
}


@dataclass(frozen=True)
class RotorOptions:
    """Options of the command line.

    Attributes:
        rotors: position [m] in the root's frame, of each rotor, in place of the file's.
        spins: of each rotor, in their order.
        thrust_max: of each [N].
        torque_ratio: drag torque per thrust [m].
        rpm_max: [rpm].
    """

    rotors: Sequence[tuple[float, float, float]] = ()
    spins: Sequence[Spin] = ()
    thrust_max: float | None = None
    torque_ratio: float | None = None
    rpm_max: float | None = None

    def __post_init__(self) -> None:
        """Refuse what no rotor has.

        Raises:
            BadInput: a number is not above 0.
        """
        for field, option in ABOVE_ZERO.items():
            value = getattr(self, field)
            if value is not None and not 0.0 < value < math.inf:
                raise BadInput(f"{option} {value:g}: a number above 0 is expected")


@dataclass(frozen=True, eq=False)
class RotorSet:
    """Rotors of a platform.

    Attributes:
        sources: with a spin each.
        model: tree of their `RotorModel`.
        assumed: what nobody said.
    """

    sources: Sequence[RotorSource]
    model: Tree
    assumed: Sequence[str]

    @property
    def thrust(self) -> float:
        """The largest of all rotors together [N]."""
        one = self.model["thrust_coefficient"] * self.model["rpm_max"] ** 2
        return len(self.sources) * float(one)


def rotor_set(vehicle: VehicleModel, options: RotorOptions, source: str) -> RotorSet:
    """The rotors of a vehicle.

    Raises:
        BadInput: something is missing; the line names the option that says it.
    """
    sources = _sources(vehicle, options, source)
    first, assumed = sources[0], list[str]()
    speed = first.speed_max if options.rpm_max is None else options.rpm_max * RPM
    thrust = options.thrust_max or first.thrust_max
    if thrust is None and first.thrust_coefficient is not None and speed is not None:
        thrust = first.thrust_coefficient * speed**2
    if thrust is None:
        raise BadInput(
            f"{source}: it does not say how hard a rotor pushes: give --max-thrust, in N of one rotor"
        )
    ratio = options.torque_ratio or first.torque_ratio
    if ratio is None:
        raise BadInput(
            f"{source}: it does not say a rotor's drag: give --torque-ratio, torque per thrust in m"
        )
    if speed is None:
        speed = ASSUMED_RPM * RPM
        assumed.append(f"rpm_max {ASSUMED_RPM:g}")
    if first.time_constants is None:
        assumed.append("time constants of the rotors")
    up, down = first.time_constants or ASSUMED_TIMES
    rpm = speed / RPM
    model = {
        "thrust_coefficient": float(thrust / rpm**2),
        "torque_ratio": float(ratio),
        "rpm_min": float(IDLE * rpm),
        "rpm_max": float(rpm),
        "time_constant_up": float(up),
        "time_constant_down": float(down),
    }
    return RotorSet(sources, model, assumed)


def _sources(vehicle: VehicleModel, options: RotorOptions, source: str) -> list[RotorSource]:
    """Places and spins of the rotors."""
    sources = [RotorSource(np.array(p)) for p in options.rotors] or list(vehicle.rotors)
    if not sources:
        raise BadInput(
            f"{source}: it does not say where its rotors are: give --rotor X Y Z for each [m]"
        )
    if options.spins:
        if len(options.spins) != len(sources):
            raise BadInput(f"--spins: {len(options.spins)} are given of {len(sources)} rotors")
        sources = [
            replace(each, spin=spin) for each, spin in zip(sources, options.spins, strict=True)
        ]
    if any(each.spin is None for each in sources):
        at = ", ".join(
            f"({x:g}, {y:g})" for x, y, _ in (each.position.tolist() for each in sources)
        )
        raise BadInput(
            f"{source}: it does not say how its rotors spin: give --spins, ccw or cw of each, in the order {at}"
        )
    return sources
