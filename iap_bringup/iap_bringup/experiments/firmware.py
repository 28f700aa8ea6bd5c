# SPDX-License-Identifier: BSD-3-Clause
"""Flights by Betaflight in lockstep: how closely they follow, whether they repeat, and how fast they are."""

import hashlib
import math
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from iap_bringup.experiments.rows import Bar, Report
from iap_description.arrays import Array
from iap_description.config.plain_yaml import read_yaml
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import P, Q
from iap_io.runs.run_meta import COMPLETED
from iap_physics.firmware.settings import firmware_tree
from iap_simulation.metrics.flight_scores import FlightScores
from iap_simulation.runs.run import run_stats
from iap_simulation.simulation.simulation import Simulation
from iap_simulation.sweeps.process_pool import ProcessPool

ENGINE = "closed_form"  # free flight; platforms on joints fly in the default engine
SEEDS = (0, 1, 2)
TWICE = 2
BESIDE = 8  # further flights at once, of which each has the bits of the flight alone
DEFAULT = {"name": "betaflight"}  # of its package
SETTLED = 8.0  # from where a spiral's own bars count [s]


class FirmwareCase(NamedTuple):
    """A flight by firmware, and what it must reach.

    Attributes:
        name: of the case.
        platform: that flies.
        scenario: that is flown.
        duration: [s].
        position: largest distance from the reference [m]; None where it pushes.
        angle: largest angle from it [deg]; None where the platform tilts to push.
        settled: likewise both from `SETTLED` on; None without.
        force: RMSE of the force that it pushes with along x [N]; None where it does not.
        speed: least simulated time per wall time, once it flies.
    """

    name: str
    platform: str
    scenario: str
    duration: float
    position: float | None
    angle: float | None
    settled: tuple[float, float] | None = None
    speed: float = 5.0
    force: float | None = None

    @property
    def quick(self) -> "FirmwareCase":
        """The same for a second, in which nothing settles and no push begins."""
        return self._replace(duration=1.0, settled=None, force=None)


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
    FirmwareCase("three_star, rod on a wall", "three_star", "wall_push", 28.0, None, None, speed=2.0, force=0.2),
)  # fmt: skip


class FirmwareErrors(NamedTuple):
    """Figures of a flight.

    Attributes:
        errors: (steps, 2) distance [m] and angle [deg] from the reference.
        digest: of all states.
        speed: simulated time per wall time, without the firmware's start.
        force: RMSE of the force along x [N]; NaN where the case has no bar of it.
    """

    errors: Array
    digest: str
    speed: float
    force: float = math.nan


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
        scores = None if case.force is None else _scores_of(simulation)
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
        force = math.nan if scores is None else _force_error(simulation, scores)
    return FirmwareErrors(np.array(errors), digest.hexdigest(), speed, force)


def _scores_of(simulation: Simulation) -> FlightScores:
    """Scores of a flight that begins now."""
    scores = FlightScores(simulation.flight.meta)
    simulation.flight.write_tracks(scores)
    simulation.begin(observers=[scores])
    return scores


def _force_error(simulation: Simulation, scores: FlightScores) -> float:
    """RMSE of the force along x [N], as metrics.json of the flight would have it."""
    stats = run_stats(simulation, simulation.flight, COMPLETED, 0.0)
    return float(scores.metrics(stats)["force_rmse_n"][0])


def firmware_of(path: Path) -> Mapping[str, Any]:
    """The key `firmware` in a YAML file, such as that of a newer Betaflight's program.

    Raises:
        BadInput: there is no such file, it has other keys, or one that is wrong.
    """
    tree = read_yaml(path)
    if tree.keys() != {"firmware"}:
        raise BadInput(f"{path}: 'firmware' is the one key that is expected, found {[*tree]}")
    settings = firmware_tree(tree["firmware"], str(path))
    if not isinstance(settings, dict):
        raise BadInput(f"{path}: key 'firmware': a name or a mapping is expected")
    return settings


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
    settings = DEFAULT if firmware is None else firmware
    bars: list[Bar] = []
    for number, case in enumerate(CASES):
        shown = case.quick if quick else case
        pairs = []
        for seed in seeds:
            report(f"{number} of {len(CASES)}: {case.name}, seed {seed}")
            pairs.append([fly(shown, seed, settings) for _ in range(TWICE)])
        bars.extend(_bars(shown, pairs))
    return bars


def beside_others(
    report: Report, *, quick: bool = False, firmware: Mapping[str, Any] | None = None
) -> list[Bar]:
    """The one bar of flights of the first case at the same time, each in a process, by the bits of one alone.

    Args:
        report: called before the flights.
        quick: one second.
        firmware: key `firmware`; None is Betaflight of its package.

    Raises:
        BadInput: there is no such firmware here.
        FlightFailed: a flight has not come to its end.
    """
    case = CASES[0].quick if quick else CASES[0]
    settings = DEFAULT if firmware is None else firmware
    report(f"{len(CASES)} of {len(CASES)}: {case.name}, {BESIDE} others beside")
    alone = fly(case, SEEDS[0], settings)
    work = partial(_digest_of, case, settings)
    with closing(ProcessPool(1 + BESIDE).map(work, [SEEDS[0]] * (1 + BESIDE))) as finished:
        digests = [each.result for each in finished]
    differing = sum(each != alone.digest for each in digests)
    what = f"{case.name}, {BESIDE} others beside: flights that differ from one alone"
    return [Bar(what, float(differing), 0.0)]


def _digest_of(case: FirmwareCase, firmware: Mapping[str, Any], seed: int) -> str:
    """Digest of a flight, in a process of its own."""
    return fly(case, seed, firmware).digest


def _bars(case: FirmwareCase, pairs: list[list[FirmwareErrors]]) -> Iterator[Bar]:
    """Bars of pairs of equal flights."""
    worst = np.max([each.errors.max(axis=0) for pair in pairs for each in pair], axis=0)
    if case.position is not None:
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
    if case.force is not None:
        force = max(each.force for pair in pairs for each in pair)
        yield Bar(f"{case.name}: force RMSE (N)", force, case.force)
    differing = sum(len({each.digest for each in pair}) - 1 for pair in pairs)
    yield Bar(f"{case.name}: flights that differ when repeated", float(differing), 0.0)
    fastest = max(each.speed for pair in pairs for each in pair)
    yield Bar(f"{case.name}: times real time", fastest, case.speed, at_least=True)
