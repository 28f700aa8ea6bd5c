# SPDX-License-Identifier: BSD-3-Clause
"""Faults that a controller is told of: what is left then, whether it carries the platform, and who flies on it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, cast

import numpy as np

from iap_control.allocation.allocator import Allocator
from iap_control.allocation.model import PlatformModel
from iap_control.laws.tracking import gravity_wrench
from iap_description.arrays import Array
from iap_description.config.plain_yaml import parse_yaml
from iap_description.config.record import Record, validate
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import Mode
from iap_description.vehicles.aircraft import Aircraft
from iap_description.vehicles.faults import AnyFault, KnownFault, check_faults, has_come
from iap_description.vehicles.health import Health

MARGIN = (
    0.1  # share of its largest thrust that an aircraft shall keep for steering while all hover
)
ACCURACY = 1e-6  # of the wrench that hovering takes: what is off by more cannot be made
SETTLED = 1e9  # time at which every battery has sagged to its end [s]


class ReallocatingController(Protocol):
    """A controller that can fly on what faults have left."""

    def set_model(self, model: PlatformModel) -> None:
        """Go on with a model whose aircraft can do less, or more; integrals and past commands stay."""


@dataclass(frozen=True)
class RemainingThrust:
    """Rest of a platform that faults have left, as its controller is told.

    Attributes:
        at: when it is told [s].
        model: of what is left.
        load: largest thrust of an aircraft (of a rotor, on a rigid platform) in level hover over what it can give;
            infinite where it would have to pull.
        can_carry: whether what is left hovers, with `MARGIN`.
        text: a sentence for the user.
    """

    at: float
    model: PlatformModel
    load: float
    can_carry: bool
    text: str

    @classmethod
    def of(
        cls, at: float, sound: PlatformModel, faults: Sequence[AnyFault], new: str
    ) -> "RemainingThrust":
        """Model of the remaining thrust once faults have settled, and whether it carries the platform.

        Rotor thrusts at hover are -B^+ w, with w (6,) the weight's wrench [N, N m]. They hold the platform where
        |B B^+ w - w| is small, and carry it where no rotor's load exceeds 1 - `MARGIN` of its thrust.

        Args:
            at: time of the faults [s].
            sound: the platform without faults.
            faults: all that are known by then.
            new: text of those that the controller is told at this time.
        """
        health = Health.sound(sound.fleet)
        health.weaken(faults, SETTLED)
        model = sound.weakened(health)
        weight = np.empty(6)
        gravity_wrench(*_body(model), so3.IDENTITY, weight)
        parts = model.B_inverse @ -weight
        load, who = _load(model, parts)
        missing = np.linalg.norm(model.B @ parts + weight)
        can_hover = bool(missing <= ACCURACY * np.linalg.norm(weight))
        can_carry = bool(can_hover and load <= 1.0 - MARGIN)
        end = "" if can_carry else ": what is left cannot carry the platform with margin"
        takes = who if can_hover else "no thrusts of the rest hold it level"
        return cls(at, model, load, can_carry, f"{new}: {takes}{end}")


def _body(model: PlatformModel) -> tuple[float, Array, float]:
    inertia = model.inertia
    return inertia.mass, inertia.d_0, inertia.gravity


def _load(model: PlatformModel, parts: Array) -> tuple[float, str]:
    """The largest share of its thrust that an aircraft, or a rotor of one body, gives, and whose it is."""
    actuation = model.actuation
    is_rotor = actuation.mode == Mode.RPM
    thrusts = actuation.thrusts(parts)
    low, high = actuation.limits(model)
    if (thrusts < -ACCURACY).any():
        return np.inf, "a rotor would have to pull"
    working = np.flatnonzero(high > 0.0)
    if not len(working):
        return np.inf, "nothing is left"
    lowest = working[np.argmin((thrusts - low)[working])]
    i = working[np.argmax(thrusts[working] / high[working])]
    if is_rotor and thrusts[lowest] < low[lowest] - ACCURACY:
        return np.inf, f"{_whose(lowest, is_rotor=True)} would have to push less than idle"
    load = float(thrusts[i] / high[i])
    who = _whose(i, is_rotor=is_rotor)
    return load, f"hovering takes {thrusts[i]:.1f} of the {high[i]:.1f} N of {who}"


def _whose(i: int, *, is_rotor: bool) -> str:
    """An aircraft, or a rotor of all aircraft's, by its index, in words."""
    return f"rotor {i % 4 + 1} of aircraft {i // 4 + 1}" if is_rotor else f"aircraft {i + 1}"


class _FaultList(Record):
    """Faults as a parameter gives them."""

    faults: tuple[KnownFault, ...]


def read_faults(text: str, fleet: Sequence[Aircraft], *, source: str) -> tuple[KnownFault, ...]:
    """Faults on the rotors of aircraft out of a YAML list; `source` names it in errors.

    Raises:
        BadInput: it is none, or anything in it is unknown, missing or impossible.
    """
    faults = validate(
        _FaultList, {"faults": parse_yaml(text, source=source)}, source=source
    ).faults
    try:
        check_faults(faults, fleet)
    except ValueError as error:
        raise BadInput(f"{source}: {error}") from error
    return faults


class KnownFaults:
    """Tells a vehicle's controller and allocators of faults in time; a reset makes them sound again.

    Args:
        faults: of the vehicle; those that are not known are left out.
        model: of the sound platform.
        controller: of the vehicle.
        allocators: of commands from elsewhere.

    Attributes:
        losses: one for each time at which a fault becomes known.
        applied: how many of them have been told.

    Raises:
        BadInput: the controller cannot be told.
    """

    def __init__(
        self,
        faults: Sequence[AnyFault],
        model: PlatformModel,
        controller: object,
        allocators: Sequence[Allocator] = (),
    ) -> None:
        known = [each for each in faults if getattr(each, "known", False)]
        if known and not hasattr(controller, "set_model"):
            name = type(controller).__name__
            raise BadInput(
                f"key 'faults': known is for laws with a method set_model; {name} has none"
            )
        self._sound = model
        self._pilots = (cast(ReallocatingController, controller), *allocators)
        self.losses = tuple(_loss(at, model, known) for at in sorted({f.at for f in known}))
        self.applied = 0

    def reset(self) -> None:
        """All is sound: a flight begins."""
        if self.applied:
            self._fly(self._sound)
        self.applied = 0

    def tell(self, t: float) -> None:
        """Tell what has come at a time [s]."""
        while self.applied < len(self.losses) and has_come(self.losses[self.applied].at, t):
            self._fly(self.losses[self.applied].model)
            self.applied += 1

    def _fly(self, model: PlatformModel) -> None:
        for each in self._pilots:
            each.set_model(model)


def _loss(at: float, model: PlatformModel, known: Sequence[AnyFault]) -> RemainingThrust:
    so_far = [each for each in known if each.at <= at]
    new = ", ".join(str(each) for each in so_far if each.at == at)
    return RemainingThrust.of(at, model, so_far, new)
