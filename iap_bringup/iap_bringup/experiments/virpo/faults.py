# SPDX-License-Identifier: BSD-3-Clause
"""Localisation with sensors that fail: each fault laid over the same flight, beside the clean one."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from rich.console import Console

from iap_bringup.experiments.virpo.cases import CASES, METHODS
from iap_bringup.experiments.virpo.flights import Event, ObservedFlight
from iap_bringup.experiments.virpo.runs import estimated, score_of, settings_of, watch_case
from iap_bringup.experiments.virpo.scores import FailedEstimate
from iap_bringup.terminal.progress import counted, work_bar
from iap_bringup.terminal.tables import show_rows
from iap_description.math.random_streams import stream
from iap_estimation.virpo.messages import Ranges, Tracks

FLIGHT, SECONDS, QUICK_SECONDS = "a2", 60.0, 20.0
METHOD_NAMES = ("vio_uwb", "virpo", "joint", "drift_filter")
BODIES = ("drone_1", "drone_2", "drone_3", "center")
OUTLIER_DEVIATION = 30.0  # standard deviation of an outlier [px]
FOCAL = 320.0  # [px]
FAULT_TIME = 8.0  # at which a fault of limited duration begins [s]
MAX_ERROR_RATIO = 2.0  # of a flight with a fault over the clean one
Fault = Callable[[list[Event]], list[Event]]


def outliers(events: list[Event]) -> list[Event]:
    """30 % of the tracks are wrong."""
    rng = stream(1, "outlier tracks")

    def spoil(tracks: Tracks) -> Tracks:
        wrong = rng.random(len(tracks.ids)) < 0.3
        views = tracks.views.copy()
        views[wrong] += rng.normal(size=(int(wrong.sum()), 4)) * OUTLIER_DEVIATION / FOCAL
        return replace(tracks, views=views)

    return [(who, spoil(m) if isinstance(m, Tracks) else m) for who, m in events]


def darkness(events: list[Event]) -> list[Event]:
    """No aircraft has tracks for 2 s; the tracks after it are new ones."""
    return [_unseen(event, 2.0) for event in events]


def delay(events: list[Event]) -> list[Event]:
    """Images come 200 ms late, with their own stamps."""
    return sorted(events, key=lambda e: e[1].t + (0.2 if isinstance(e[1], Tracks) else 0.0))


def no_ranges(events: list[Event]) -> list[Event]:
    """No tag measures for 10 s."""
    return [e for e in events if not (isinstance(e[1], Ranges) and _within(e[1].t, 10.0))]


def behind_walls(events: list[Event]) -> list[Event]:
    """Ranges to the second anchor are 1 m too long."""

    def lengthen(measurement: Ranges) -> Ranges:
        return replace(measurement, ranges=measurement.ranges + (measurement.anchors == 1))

    return [(who, lengthen(m) if isinstance(m, Ranges) else m) for who, m in events]


def one_blind(events: list[Event]) -> list[Event]:
    """The first aircraft's images do not come for 10 s; the tracks after it are new ones."""
    lost = [isinstance(m, Tracks) and who == 0 and _within(m.t, 10.0) for who, m in events]
    kept = [event for event, is_lost in zip(events, lost, strict=True) if not is_lost]
    return [_unseen(event, 10.0) if event[0] == 0 else event for event in kept]


FAULTS: dict[str, Fault] = {
    "30 % outlier tracks": outliers,
    "2 s of darkness": darkness,
    "images 200 ms late": delay,
    "no ranges for 10 s": no_ranges,
    "1 m too far from one anchor": behind_walls,
    "one aircraft's images lost for 10 s": one_blind,
}


def run_faults(console: Console, *, quick: bool = False) -> None:
    """Fly once, and localise with every fault."""
    case = next(each for each in CASES if each.name == FLIGHT)
    seconds = QUICK_SECONDS if quick else SECONDS
    with work_bar(console, "the flight") as report:
        observed = watch_case(replace(case, duration=seconds), 1)
        rows = {}
        for method in counted(report, METHOD_NAMES):
            clean = _error(observed, observed.events, method)
            rows[f"{method}: clean"] = {"ATE, m": _text(clean), "of the clean one": ""}
            for name, fault in FAULTS.items():
                report(f"{method}: {name}")
                rows[f"{method}: {name}"] = _row(
                    _error(observed, fault(observed.events), method), clean
                )
    show_rows(console, f"figure-eight, {seconds:.0f} s, mean over all bodies", rows)


def _error(observed: ObservedFlight, events: list[Event], method: str) -> float | FailedEstimate:
    """Mean over the bodies of the position's RMSE [m]."""
    estimates = estimated(observed, events, METHODS[method].base, settings_of(METHODS[method]))
    if isinstance(estimates, FailedEstimate):
        return estimates
    return float(np.mean([score_of(observed, body, estimates[body]).ate for body in BODIES]))


def _row(error: float | FailedEstimate, clean: float | FailedEstimate) -> dict[str, str]:
    ratio = ""
    if isinstance(error, float) and isinstance(clean, float):
        ratio = f"{error / clean:.2f} {'ok' if error <= MAX_ERROR_RATIO * clean else 'MISSED'} (<= {MAX_ERROR_RATIO:g})"
    return {"ATE, m": _text(error), "of the clean one": ratio}


def _text(error: float | FailedEstimate) -> str:
    return f"failed: {error.reason}" if isinstance(error, FailedEstimate) else f"{error:.3f}"


def _within(t: float, seconds: float) -> bool:
    return FAULT_TIME <= t < FAULT_TIME + seconds


def _unseen(event: Event, seconds: float) -> Event:
    """Tracks of some time as none, and those after it under new names."""
    who, measurement = event
    if not isinstance(measurement, Tracks) or measurement.t < FAULT_TIME:
        return event
    if _within(measurement.t, seconds):
        none = {name: getattr(measurement, name)[:0] for name in ("ids", "views", "has_right")}
        return who, replace(measurement, **none)
    return who, replace(measurement, ids=measurement.ids + 10**9)
