# SPDX-License-Identifier: BSD-3-Clause
"""Content of a flight log, in lines and as numbers: signals, times in the air, frames, uses."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.flight_log import FlightLog, Signal
from iap_io.flight_logs.flight_times import InTheAir, flights_in
from iap_io.flight_logs.frame_checks import FrameCheck, check_frames
from iap_io.flight_logs.signal_doubts import signal_doubts

VIBRATION_HZ = 20.0  # accelerations above it are vibration
STRONG = 5.0  # vibration [m/s^2]
FAST_MOTORS = 100.0  # least rate at which a rotor's lag shows [Hz]
VOLTAGE_RANGE = 0.1  # least share of a battery's voltage that shows its sag
DRAG_SPEED = 2.0  # least speed at which drag shows [m/s]
COLUMNS = ("signal", "source", "rate Hz", "gap ms", "in the air")


Trial = Callable[[], str]  # its reason; empty where it succeeds


class LogUse(NamedTuple):
    """One use of a log.

    Attributes:
        name: of the use.
        reason: why the log does not serve it; empty where it does.
    """

    name: str
    reason: str


@dataclass(frozen=True)
class Inspection:
    """Content of a log.

    Attributes:
        log: itself.
        flights: when it was in the air.
        check: its signals against each other, in the longest flight or else in all of the log.
        uses: what it is good for.
    """

    log: FlightLog
    flights: list[InTheAir]
    check: FrameCheck
    uses: list[LogUse]

    @classmethod
    def of(cls, log: FlightLog, trials: Mapping[str, Trial] | None = None) -> "Inspection":
        """Inspect a log.

        Args:
            log: of an autopilot, or of a run.
            trials: of uses, by their names: the reason why one that the log's signals serve is refused all the same.
        """
        flights = flights_in(log)
        whole = InTheAir(log.begin, log.end)
        longest = _longest(flights)
        check = check_frames(log, longest or whole)
        doubts = signal_doubts(log, longest or whole, is_confirmed=check.is_confirmed)
        log = log.noted(*doubts)
        airborne = {name: x.between(*(longest or whole)) for name, x in log.signals.items()}
        uses = []
        for name, why in USES.items():
            reason = why(log, airborne if longest else {})
            trial = (trials or {}).get(name)
            uses.append(LogUse(name, reason or ("" if trial is None else trial())))
        return cls(log, flights, check, uses)

    @property
    def metrics(self) -> dict[str, Any]:
        """The same as numbers, for JSON."""
        when = _longest(self.flights)
        signals = {
            name: {
                "source": each.source, "unit": each.unit, "samples": len(each.t), "rate_hz": each.rate,
                "largest_gap_s": each.largest_gap, "gaps": each.gaps, "in_the_air": _in_words(name, each, when),
            } for name, each in self.log.signals.items()
        }  # fmt: skip
        return {
            "path": str(self.log.path), "kind": self.log.kind, "vehicle": self.log.vehicle,
            "begin_s": self.log.begin, "end_s": self.log.end, "rows": self.log.rows,
            "flights_s": [list(each) for each in self.flights], "signals": signals,
            "missing": dict(self.log.missing), "notes": list(self.log.notes), "frames": self.check.verdict,
            "velocity_off_mps": self.check.velocity, "rates_off_rps": self.check.rates,
            "acceleration_off_mps": self.check.acceleration,
            "can": [each.name for each in self.uses if not each.reason],
            "cannot": {each.name: each.reason for each in self.uses if each.reason},
        }  # fmt: skip

    def heading(self) -> Iterator[str]:
        """Lines on the whole log: its kind, size and times."""
        log = self.log
        yield f"{log.path.name}: {log.kind}, {log.vehicle}"
        path, _ = names.numbered(log.path)
        files = path.iterdir() if path.is_dir() else (path,)
        size = sum(each.stat().st_size for each in files) / 1e6
        yield f"  {size:.1f} MB, {log.rows} rows, {log.end - log.begin:.1f} s from {log.begin:.1f} s after boot"
        airborne = [f"{each.begin:.1f} to {each.end:.1f} s" for each in self.flights]
        yield f"  in the air: {', '.join(airborne) or 'never'}"

    def rows(self) -> Iterator[tuple[str, ...]]:
        """Cells of each signal's row, as `COLUMNS` names them."""
        when = _longest(self.flights)
        for name, each in self.log.signals.items():
            if name not in names.STATES:
                rate, gap = f"{each.rate:.0f}", f"{1e3 * each.largest_gap:.0f}"
                yield (name, each.source, rate, gap, _in_words(name, each, when))
        for name, reason in self.log.missing.items():
            yield (name, "none", "", "", reason)

    def conclusions(self) -> Iterator[str]:
        """Lines on what follows from all signals: their consistency, and what the log serves."""
        yield f"  consistency: {', '.join(_consistency(self.check))}"
        can = [each.name for each in self.uses if not each.reason]
        yield f"  can: {', '.join(can) or 'nothing'}"
        for each in self.uses:
            if each.reason:
                yield f"  cannot: {each.name}: {each.reason}"
        yield from (f"  note: {each}" for each in self.log.notes)
        if self.log.advice:
            yield f"  next time: {self.log.advice}"


def _longest(flights: list[InTheAir]) -> InTheAir | None:
    return max(flights, key=lambda each: each.duration, default=None)


def _consistency(check: FrameCheck) -> Iterator[str]:
    if check.velocity is not None:
        yield f"position and velocity {check.velocity:.3f} m/s"
    if check.rates is not None:
        yield f"attitude and rates {check.rates:.4f} rad/s"
    if check.acceleration is not None:
        yield f"velocity and accelerometer {check.acceleration:.3f} m/s in 0.5 s"
    yield check.verdict


def _in_words(name: str, signal: Signal, when: InTheAir | None) -> str:
    """Sentence on a signal in the air."""
    if when is None or name not in WORDS:
        return ""
    cut = signal.between(*when)
    return WORDS[name](cut) if len(cut.t) > 1 else "no samples"


def _tilt(signal: Signal) -> str:
    up = so3.matrix_from_quaternion(so3.normalized(signal.values))[:, 2, 2]
    return f"tilt to {np.degrees(np.arccos(np.clip(up, -1.0, 1.0)).max()):.0f} deg"


def _room(signal: Signal) -> str:
    return " x ".join(f"{each:.1f}" for each in np.ptp(signal.values, axis=0)) + " m"


def _most(signal: Signal) -> str:
    return f"to {np.linalg.norm(signal.values, axis=1).max():.1f} {signal.unit}"


def vibration(signal: Signal) -> float:
    """RMS of what is above `VIBRATION_HZ` [m/s^2]: less the mean over one of its periods."""
    width = max(round(signal.rate / VIBRATION_HZ), 1)
    kernel = np.ones(width) / width
    smooth = np.stack([np.convolve(x, kernel, mode="same") for x in signal.values.T], axis=1)
    off = (signal.values - smooth)[width:-width] if len(signal.t) > 3 * width else np.zeros((1, 3))
    return float(np.sqrt(np.mean(np.sum(off**2, axis=1))))


def _shaking(signal: Signal) -> str:
    if signal.rate < 2.0 * VIBRATION_HZ:
        return "too slow to show vibration"
    size = vibration(signal)
    return f"vibration {size:.1f} m/s^2{' (strong)' if size > STRONG else ''}"


def _range(signal: Signal) -> str:
    low, high, usual = (float(f(signal.values)) for f in (np.min, np.max, np.median))
    digits = 0 if high >= 100.0 else 2
    return f"{low:.{digits}f} to {high:.{digits}f}, usually {usual:.{digits}f}"


def _controlled(signal: Signal) -> str:
    share = 100.0 * np.isnan(signal.values).any(axis=1).mean()
    return f"{share:.0f} % not controlled" if share else ""


WORDS: dict[str, Callable[[Signal], str]] = {
    names.ATTITUDE: _tilt,
    names.POSITION: _room,
    names.VELOCITY: _most,
    names.RATES: _most,
    names.GYROSCOPE: _most,
    names.SPECIFIC_FORCE: _shaking,
    names.MOTORS: _range,
    names.ROTOR_SPEEDS: _range,
    names.THRUST: _range,
    names.VOLTAGE: _range,
    names.CURRENT: _range,
    names.POSITION_SETPOINT: _controlled,
    names.VELOCITY_SETPOINT: _controlled,
    names.RATES_SETPOINT: _controlled,
}
AirborneSignals = dict[str, Signal]


def _lacks(log: FlightLog, airborne: AirborneSignals, *needs: str) -> str:
    """The reason why signals are not there in flight; empty where they are."""
    if not airborne:
        return "never in the air"
    for name in needs:
        if name not in airborne or len(airborne[name].t) < 2:
            reason = log.missing.get(name)
            return f"no {name}" + (f" ({reason})" if reason else "")
    return ""


def _replay(log: FlightLog, airborne: AirborneSignals) -> str:
    return _lacks(log, airborne, names.POSITION, names.ATTITUDE)


def _replay_setpoints(log: FlightLog, airborne: AirborneSignals) -> str:
    return _lacks(log, airborne, names.POSITION_SETPOINT)


def _replay_velocities(log: FlightLog, airborne: AirborneSignals) -> str:
    return _lacks(log, airborne, names.VELOCITY_SETPOINT)


def _replay_attitudes(log: FlightLog, airborne: AirborneSignals) -> str:
    reason = _lacks(log, airborne, names.ATTITUDE_SETPOINT)
    has_thrust = names.THRUST in airborne or names.MOTORS in airborne
    return reason or ("" if has_thrust else "no thrust set-point and no motors")


def _replay_motors(log: FlightLog, airborne: AirborneSignals) -> str:
    reason = _hover(log, airborne)
    return reason or ("" if log.motor_places is not None else "their places are not known")


def _hover(log: FlightLog, airborne: AirborneSignals) -> str:
    motors = airborne.get(names.MOTORS)
    reason = _lacks(log, airborne, names.MOTORS)
    return reason or ("motors do not change" if motors and not _changes(motors.values) else "")


def _lag(log: FlightLog, airborne: AirborneSignals) -> str:
    reason = _lacks(log, airborne, names.MOTORS)
    rate = airborne[names.MOTORS].rate if not reason else 0.0
    return reason or (f"motors at {rate:.0f} Hz" if rate < FAST_MOTORS else "")


def _drag(log: FlightLog, airborne: AirborneSignals) -> str:
    reason = _lacks(log, airborne, names.VELOCITY, names.ATTITUDE)
    speed = 0.0 if reason else float(np.linalg.norm(airborne[names.VELOCITY].values, axis=1).max())
    return reason or (f"at most {speed:.1f} m/s" if speed < DRAG_SPEED else "")


def _sag(log: FlightLog, airborne: AirborneSignals) -> str:
    reason = _lacks(log, airborne, names.VOLTAGE, names.MOTORS)
    if reason:
        return reason
    share = voltage_share(airborne[names.VOLTAGE].values)
    return f"voltage changes by {100 * share:.0f} % alone" if share < VOLTAGE_RANGE else ""


def voltage_share(volts: Array) -> float:
    """Range of voltages over their largest."""
    return float(np.ptp(volts) / max(float(volts.max()), 1e-9))


def _changes(values: Array) -> bool:
    return bool(np.ptp(values, axis=0).any())


USES: dict[str, Callable[[FlightLog, AirborneSignals], str]] = {
    "replay of the flown motion": _replay,
    "replay of position set-points": _replay_setpoints,
    "replay of velocity set-points": _replay_velocities,
    "replay of attitude set-points": _replay_attitudes,
    "replay of the motors": _replay_motors,
    "hover command": _hover,
    "rotor lag": _lag,
    "drag": _drag,
    "battery sag": _sag,
    "mass and inertia": lambda _log, _flown: "no log has them",
}
