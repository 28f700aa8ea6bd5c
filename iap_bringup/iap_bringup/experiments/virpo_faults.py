# SPDX-License-Identifier: BSD-3-Clause
"""What localisation makes of sensors that fail: each fault laid over the same flight, beside the clean one."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from rich.console import Console

from iap_bringup.experiments.options import ExperimentOptions
from iap_bringup.experiments.virpo_cases import CASES, METHODS
from iap_bringup.experiments.virpo_flights import Event, ObservedFlight
from iap_bringup.experiments.virpo_runs import errors_of, estimated, settings_of, watch_case
from iap_bringup.experiments.virpo_scores import Failed, Score
from iap_bringup.terminal.tables import show_rows
from iap_description.random_streams import stream
from iap_estimation.virpo.messages import Ranges, Tracks

FLIGHT, SECONDS, QUICK_SECONDS = "a2", 60.0, 20.0
METHOD_NAMES = ("vio_uwb", "virpo", "joint", "drift_filter")
BODIES = ("drone_1", "drone_2", "drone_3", "center")
WRONG = 30.0  # [px] that an outlier is off, standard deviation
FOCAL = 320.0  # [px]
BEGIN = 8.0  # of what lasts for some time [s]
WORST = 2.0  # times the clean flight's error that is allowed
Fault = Callable[[list[Event]], list[Event]]


def outliers(events: list[Event]) -> list[Event]:
    """30 % of the tracks lie."""
    rng = stream(1, "outlier tracks")

    def spoil(tracks: Tracks) -> Tracks:
        wrong = rng.random(len(tracks.ids)) < 0.3
        views = tracks.views.copy()
        views[wrong] += rng.normal(size=(int(wrong.sum()), 4)) * WRONG / FOCAL
        return replace(tracks, views=views)

    return [
        (who, spoil(measurement) if isinstance(measurement, Tracks) else measurement)
        for who, measurement in events
    ]


def darkness(events: list[Event]) -> list[Event]:
    """Nobody sees anything for 2 s; the tracks after it are new ones."""
    return [_unseen(event, 2.0) for event in events]


def delay(events: list[Event]) -> list[Event]:
    """Images come 200 ms late, with their own stamps."""
    late = [
        (measurement.t + (0.2 if isinstance(measurement, Tracks) else 0.0), (who, measurement))
        for who, measurement in events
    ]
    return [event for _, event in sorted(late, key=lambda pair: pair[0])]


def no_ranges(events: list[Event]) -> list[Event]:
    """No tag says anything for 10 s."""
    return [e for e in events if not (isinstance(e[1], Ranges) and _within(e[1].t, 10.0))]


def behind_walls(events: list[Event]) -> list[Event]:
    """Ranges to the second anchor are 1 m too long."""

    def lengthen(measurement: Ranges) -> Ranges:
        return replace(measurement, ranges=measurement.ranges + (measurement.anchors == 1))

    return [
        (who, lengthen(measurement) if isinstance(measurement, Ranges) else measurement)
        for who, measurement in events
    ]


def one_blind(events: list[Event]) -> list[Event]:
    """The first aircraft's images do not come for 10 s; the tracks after it are new ones."""
    kept = []
    for who, measurement in events:
        if who == 0 and isinstance(measurement, Tracks) and _within(measurement.t, 10.0):
            continue
        kept.append(_unseen((who, measurement), 10.0) if who == 0 else (who, measurement))
    return kept


FAULTS: dict[str, Fault] = {
    "30 % outlier tracks": outliers,
    "2 s of darkness": darkness,
    "images 200 ms late": delay,
    "no ranges for 10 s": no_ranges,
    "1 m too far from one anchor": behind_walls,
    "one aircraft's images lost for 10 s": one_blind,
}


def run_faults(console: Console, options: ExperimentOptions) -> None:
    """Fly once, and localise with every fault."""
    case = next(each for each in CASES if each.name == FLIGHT)
    seconds = QUICK_SECONDS if options.quick else SECONDS
    with console.status("the flight") as status:
        observed = watch_case(replace(case, duration=seconds), 1)
        rows = {}
        for method in METHOD_NAMES:
            clean = _error(observed, observed.events, method)
            rows[f"{method}: clean"] = {"ATE, m": _text(clean), "of the clean one": ""}
            for name, fault in FAULTS.items():
                status.update(f"{method}: {name}")
                rows[f"{method}: {name}"] = _row(
                    _error(observed, fault(observed.events), method), clean
                )
    show_rows(console, f"figure-eight, {seconds:.0f} s, mean over all bodies", rows)


def _error(observed: ObservedFlight, events: list[Event], method: str) -> float | Failed:
    """Mean over the bodies of the position's RMSE [m]."""
    found = estimated(observed, events, METHODS[method].base, settings_of(METHODS[method]))
    if isinstance(found, Failed):
        return found
    return float(
        np.mean([Score.of(errors_of(observed, body, found[body])).ate for body in BODIES])
    )


def _row(error: float | Failed, clean: float | Failed) -> dict[str, str]:
    ratio = ""
    if isinstance(error, float) and isinstance(clean, float):
        ratio = (
            f"{error / clean:.2f} {'ok' if error <= WORST * clean else 'MISSED'} (<= {WORST:g})"
        )
    return {"ATE, m": _text(error), "of the clean one": ratio}


def _text(error: float | Failed) -> str:
    return f"failed: {error.reason}" if isinstance(error, Failed) else f"{error:.3f}"


def _within(t: float, seconds: float) -> bool:
    return BEGIN <= t < BEGIN + seconds


def _unseen(event: Event, seconds: float) -> Event:
    """Tracks of some time as none, and those after it under new names."""
    who, measurement = event
    if not isinstance(measurement, Tracks) or measurement.t < BEGIN:
        return event
    if _within(measurement.t, seconds):
        none = np.zeros(len(measurement.ids), dtype=bool)
        return who, Tracks(
            measurement.t,
            measurement.ids[none],
            measurement.views[none],
            measurement.has_right[none],
        )
    return who, replace(measurement, ids=measurement.ids + 10**9)
