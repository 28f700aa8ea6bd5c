# SPDX-License-Identifier: BSD-3-Clause
"""Firmwares of one vehicle's aircraft: made ready on bodies that stand still, then exchanged with step by step.

Before the flight they boot, are armed, and are probed: a turn about each axis has to raise the rotors that resist it.
A sign or an order of rotors that differs between releases ends the flight there, and not in a fall.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from iap_description.vehicles.aircraft import Aircraft
from iap_physics.firmware.firmware import (
    AircraftMotion,
    AttitudeOrder,
    Firmware,
    FirmwareFailed,
    RotorShares,
)
from iap_physics.firmware.rotor_places import resisting_signs

Answer = TypeVar("Answer")
AXES = ("roll", "pitch", "yaw")
TURN = 0.5  # of a probe [rad/s]
TURN_TIME, REST_TIME = 0.005, 0.095  # of a probe, and after it [s]
RUN_UP = 0.5  # from armed to the first probe [s]
MIN_CHANGE = 0.003  # of a share, that counts as an answer


class FirmwareFleet:
    """Firmwares of one vehicle's aircraft, in lockstep.

    Args:
        name: of the vehicle.
        aircraft: of it.
        firmwares: of each, not begun.
        period_ns: of the exchange [ns].
        probes: whether signs and rotors are tried.

    Attributes:
        t_ns: time since they were started [ns].
    """

    def __init__(
        self,
        name: str,
        aircraft: Sequence[Aircraft],
        firmwares: Sequence[Firmware],
        period_ns: int,
        *,
        probes: bool,
    ) -> None:
        self._name, self._firmwares, self._period_ns = name, firmwares, period_ns
        self._resisting = [resisting_signs(each) for each in aircraft]
        self._probes = probes
        self.t_ns = 0

    def prepare(self, motions: Sequence[AircraftMotion], orders: Sequence[AttitudeOrder]) -> None:
        """Start all, boot, arm and probe them while the bodies stand still.

        Args:
            motions: of each at rest.
            orders: that they get once they are armed.

        Raises:
            FirmwareFailed: with its outcome.
        """
        self.t_ns = 0
        for i, firmware in enumerate(self._firmwares):
            self._of_each(i, firmware.begin)
        for i, firmware in enumerate(self._firmwares):
            self._of_each(i, firmware.connect)
        self._boot_and_arm(motions, orders)
        self._hold(motions, orders, RUN_UP)
        if self._probes:
            for axis in range(len(AXES)):
                self._probe(axis, motions, orders)
                self._hold(motions, orders, REST_TIME)

    def _boot_and_arm(
        self, motions: Sequence[AircraftMotion], orders: Sequence[AttitudeOrder]
    ) -> None:
        still = [each._replace(share=0.0, is_armed=False) for each in orders]
        self._hold(motions, still, max(each.boot_time for each in self._firmwares))
        armed = [each._replace(share=0.0, is_armed=True) for each in orders]
        end = self.t_ns + round(1e9 * max(each.arming_time for each in self._firmwares))
        answers = self._exchange(motions, armed)
        while not all(each.is_armed for each in answers):
            if self.t_ns >= end:
                i = [each.is_armed for each in answers].index(False)
                raise self._obstructed(i, "firmware_not_armed", "it does not arm")
            answers = self._exchange(motions, armed)

    def _hold(
        self,
        motions: Sequence[AircraftMotion],
        orders: Sequence[AttitudeOrder],
        seconds: float,
    ) -> list[RotorShares]:
        """Stand still for a time [s]; returns the last answers."""
        answers = self._exchange(motions, orders)
        for _ in range(round(1e9 * seconds / self._period_ns)):
            answers = self._exchange(motions, orders)
        return answers

    def _probe(
        self, axis: int, motions: Sequence[AircraftMotion], orders: Sequence[AttitudeOrder]
    ) -> None:
        """Turn all about an axis for a moment.

        Raises:
            FirmwareFailed: rotors do not resist it.
        """
        x, y, z = (TURN if k == axis else 0.0 for k in range(len(AXES)))
        turning = [each._replace(w_WB_B=(x, y, z)) for each in motions]
        before = self._hold(motions, orders, 0.0)
        steps = max(2, round(1e9 * TURN_TIME / self._period_ns))
        answers = [self._exchange(turning, orders) for _ in range(steps)]
        for i, signs in enumerate(self._resisting):
            changes = [
                sum(each[i].shares[k] for each in answers) / steps - before[i].shares[k]
                for k in range(len(signs[axis]))
            ]
            if any(
                change * sign < MIN_CHANGE
                for change, sign in zip(changes, signs[axis], strict=True)
            ):
                shown = ", ".join(f"{change:+.3f}" for change in changes)
                raise self._of(i, FirmwareFailed(
                    "firmware_wrong_signs",
                    f"its rotors do not resist a turn in {AXES[axis]}, their shares change by {shown}: signs of its"
                    " axes, or order and spin of its rotors, are others than those of the keys of 'firmware'",
                ))  # fmt: skip

    def exchange(
        self, motions: Sequence[AircraftMotion], orders: Sequence[AttitudeOrder]
    ) -> list[RotorShares]:
        """Tell all, then ask all, for one period in flight.

        Raises:
            FirmwareFailed: with its outcome; a share that is no number from 0 to 1 is a failure, too.
        """
        answers = self._exchange(motions, orders)
        for i, (answer, order) in enumerate(zip(answers, orders, strict=True)):
            if order.is_armed and not answer.is_armed:
                raise self._obstructed(i, "firmware_disarmed", "its motors stand still in flight")
        return answers

    def _obstructed(self, i: int, outcome: str, reason: str) -> FirmwareFailed:
        """An error with what the firmware states as obstacles."""
        why = self._firmwares[i].obstacles()
        return self._of(i, FirmwareFailed(outcome, f"{reason}{': ' if why else ''}{why}"))

    def _exchange(
        self, motions: Sequence[AircraftMotion], orders: Sequence[AttitudeOrder]
    ) -> list[RotorShares]:
        t_ns = self.t_ns
        self.t_ns += self._period_ns
        for firmware, motion, order in zip(self._firmwares, motions, orders, strict=True):
            firmware.tell(t_ns, motion, order)
        answers = [self._of_each(i, each.ask) for i, each in enumerate(self._firmwares)]
        for i, answer in enumerate(answers):
            if not all(0.0 <= share <= 1.0 for share in answer.shares):  # NaN as well
                reason = f"its motors {answer.shares} are no shares of 0 to 1"
                raise self._of(i, FirmwareFailed("firmware_out_of_step", reason))
        return answers

    def _of_each(self, i: int, act: Callable[[], Answer]) -> Answer:
        """What a firmware does; an error names its aircraft."""
        try:
            return act()
        except FirmwareFailed as error:
            raise self._of(i, error) from error

    def _of(self, i: int, error: FirmwareFailed) -> FirmwareFailed:
        """An error that names the aircraft."""
        return FirmwareFailed(error.outcome, f"{self._name}, firmware of aircraft {i}: {error}")

    def end(self) -> None:
        """End all; a second time is fine."""
        for each in self._firmwares:
            each.end()

    def write(self, folder: Path) -> None:
        """Copy what each keeps into a folder of its own below one."""
        for i, each in enumerate(self._firmwares):
            place = folder / "firmware" / self._name / f"aircraft_{i}"
            place.mkdir(parents=True)
            each.write(place)
