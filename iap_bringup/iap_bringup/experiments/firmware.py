# SPDX-License-Identifier: BSD-3-Clause
"""Flights by Betaflight in lockstep: how closely they follow, whether they repeat, and how fast they are."""

import hashlib
import time
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from iap_bringup.experiments.rows import Bar, Report
from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.states import P, Q
from iap_simulation.simulation.simulation import Simulation

ENGINE = "closed_form"  # free flight; platforms on joints fly in the default engine
SEEDS = (0, 1, 2)
TWICE = 2
SETTLED = 8.0  # from where a spiral's own bars count [s]


class FirmwareCase(NamedTuple):
    """A flight by firmware, and what it must reach.

    Attributes:
        name: of the case.
        platform: that flies.
        scenario: that is flown.
        duration: [s].
        position: largest distance from the reference [m].
        angle: largest angle from it [deg]; None where the platform tilts to push.
        settled: likewise both from `SETTLED` on; None without.
        speed: least simulated time per wall time, once it flies.
    """

    name: str
    platform: str
    scenario: str
    duration: float
    position: float
    angle: float | None
    settled: tuple[float, float] | None = None
    speed: float = 5.0


CASES = (
    FirmwareCase("f450, hover", "f450", "hover", 30.0, 0.02, 0.5),
    FirmwareCase("f450, figure-eight", "f450", "figure_eight", 30.0, 0.1, None),
    FirmwareCase("three_star, hover", "three_star", "hover", 10.0, 0.01, 0.2, speed=2.0),
    FirmwareCase(
        "three_star, spiral", "three_star", "three_star_spiral", 20.0, 0.05, 1.0, (0.01, 0.5), 2.0
    ),
    FirmwareCase(
        "three_star, windy figure-eight", "three_star", "figure_eight_windy", 20.0, 0.1, None, speed=2.0
    ),
)  # fmt: skip


class FirmwareErrors(NamedTuple):
    """Figures of a flight.

    Attributes:
        errors: (steps, 2) distance [m] and angle [deg] from the reference.
        digest: of all states.
        speed: simulated time per wall time, without the firmware's start.
    """

    errors: Array
    digest: str
    speed: float


def fly(case: FirmwareCase, seed: int, firmware: Mapping[str, Any]) -> FirmwareErrors:
    """Fly a case with a seed.

    Raises:
        FlightFailed: it has not come to its end.
    """
    settings: dict[str, Any] = {"firmware": dict(firmware)}
    if case.platform == "f450":
        settings["engine.name"] = ENGINE
    errors, digest = [], hashlib.sha256()
    options: dict[str, Any] = {
        "platform": case.platform,
        "seed": seed,
        "duration": case.duration,
    }
    with Simulation.of(case.scenario, settings=settings, **options) as simulation:
        simulation.step()  # starts the firmware
        began, start = time.perf_counter(), simulation.t
        while not simulation.is_done:
            x = simulation.step()[0]
            row = simulation.loop.vehicles[0].reference(simulation.loop.k).row
            turn = so3.quaternion_log(so3.multiply(so3.conjugate(row[Q]), x[Q]))
            distance = np.linalg.norm(x[P] - row[P])
            errors.append((distance, np.degrees(np.linalg.norm(turn))))
            digest.update(simulation.state.tobytes())
        speed = (simulation.t - start) / (time.perf_counter() - began)
    return FirmwareErrors(np.array(errors), digest.hexdigest(), speed)


def firmware_bars(
    report: Report, *, quick: bool = False, firmware: Mapping[str, Any] | None = None
) -> list[Bar]:
    """Bars of all cases, the worst of all seeds; each flight is flown twice.

    Args:
        report: called with the name of every flight.
        quick: one second, and one seed.
        firmware: key `firmware`; None is Betaflight of its package.

    Raises:
        BadInput: there is no such firmware here.
        FlightFailed: a flight has not come to its end.
    """
    seeds = SEEDS[:1] if quick else SEEDS
    settings = {"name": "betaflight"} if firmware is None else firmware
    bars: list[Bar] = []
    for number, case in enumerate(CASES):
        shown = case._replace(duration=1.0, settled=None) if quick else case
        pairs = []
        for seed in seeds:
            report(f"{number} of {len(CASES)}: {case.name}, seed {seed}")
            pairs.append([fly(shown, seed, settings) for _ in range(TWICE)])
        bars.extend(_bars(shown, pairs))
    return bars


def _bars(case: FirmwareCase, pairs: list[list[FirmwareErrors]]) -> Iterator[Bar]:
    """Bars of pairs of equal flights."""
    worst = np.max([each.errors.max(axis=0) for pair in pairs for each in pair], axis=0)
    yield Bar(f"{case.name}: position (m)", float(worst[0]), case.position)
    if case.angle is not None:
        yield Bar(f"{case.name}: attitude (deg)", float(worst[1]), case.angle)
    if case.settled is not None:
        begin = int(len(pairs[0][0].errors) * SETTLED / case.duration)
        settled = np.max(
            [each.errors[begin:].max(axis=0) for pair in pairs for each in pair], axis=0
        )
        for k, name in enumerate(("position (m)", "attitude (deg)")):
            measured = float(settled[k])
            yield Bar(f"{case.name}, after {SETTLED:g} s: {name}", measured, case.settled[k])
    differing = sum(len({each.digest for each in pair}) - 1 for pair in pairs)
    yield Bar(f"{case.name}: flights that differ when repeated", float(differing), 0.0)
    fastest = max(each.speed for pair in pairs for each in pair)
    yield Bar(f"{case.name}: times real time", fastest, case.speed, at_least=True)
