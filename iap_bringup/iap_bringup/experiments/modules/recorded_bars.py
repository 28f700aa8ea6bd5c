# SPDX-License-Identifier: BSD-3-Clause
"""Bars of flights of joined modules, beside their figures: the last table of ``iap experiment modules``."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from iap_bringup.experiments.modules.cases import (
    COMPLETED,
    SEEDS,
    SHORTER,
    ModuleCase,
    assembly,
    errors_of,
    hover,
    lemniscate,
    published,
    white,
)
from iap_bringup.experiments.rows import Bar
from iap_description.arrays import Array
from iap_simulation.sweeps.flying import Row

CaseRows = Mapping[str, Sequence[Row]]  # rows of a case's flights by its name
TITLE = "bars"
HOVER_SHARES = {4: 0.75}  # of what is published, that errors of so many modules may be
BREEZE = "wind.speed=2.0"
GUSTS = ("wind.speed=1.0", "wind.turbulence=7.7")
PATIENT = tuple(f"vehicles.{i}.reference.duration=40.0" for i in range(2))  # [s]
GUST_SEEDS = tuple(range(1, 21))  # of one docking each
RELEASE = "vehicles.0.reference.duration=45.0"  # [s] of flights that end when two have parted
DESIRED = "modules.joints.j1.desired"
DESIRED_WRENCH = (5.0, 0.0, 0.0, 0.0, 1.0, 0.0)  # wrench in a joint [N, N m]


def bar_cases(*, quick: bool) -> list[ModuleCase]:
    """Flights that no table of the paper has."""
    flights = [
        ("breeze", "module_lemniscate", ("modules.count=3", BREEZE), SEEDS[:1]),
        ("release", "module_release", (RELEASE,), SEEDS),
        ("release, none", "module_release", (RELEASE, "modules.compensation=none"), SEEDS[:1]),
        ("printed", "module_hover", ("modules.compensation=printed",), SEEDS[:1]),
        ("wanted", "module_hover", (SHORTER, f"{DESIRED}={list(DESIRED_WRENCH)}"), SEEDS[:1]),
        ("square", "module_square", (), SEEDS[:1]),
        ("gusts", "module_docking", (*GUSTS, *PATIENT), GUST_SEEDS),
    ]
    scores = {"breeze": ("m2", "rmse"), "square": ("m1", "rmse_steady")}
    out = []
    for label, scenario, assignments, seeds in flights:
        module, errors = scores.get(label, (None, "rmse"))
        out.append(ModuleCase(TITLE, label, scenario, assignments, module, errors, (), seeds))
    return [case._replace(seeds=case.seeds[:1]) for case in out] if quick else out


def recorded_bars(results: CaseRows, *, quick: bool) -> Iterator[Bar]:
    """Bars of flights that have been flown."""
    yield from _hover_bars(results, quick=quick)
    yield from _noise_bars(results)
    yield from _lemniscate_bars(results)
    yield from _docking_bars(results)
    yield from _other_bars(results)


def _hover_bars(results: CaseRows, *, quick: bool) -> Iterator[Bar]:
    paper, errors_by_count = published().hover, {}
    for n in (1, 2, 4) if quick else (1, 2, 4, 8):
        case = hover(n)
        limit = paper.get(n) or tuple(map(max, zip(paper[1], paper[4], strict=True)))
        errors_by_count[n] = _errors(case, results)
        yield Bar(
            f"hover, n = {n}: error over published, worst axis",
            _share(errors_by_count[n], limit),
            HOVER_SHARES.get(n, 1.0),
        )
    if not quick:
        yield Bar(
            "hover, n = 8 over n = 1, worst axis",
            _share(errors_by_count[8], errors_by_count[1]),
            3.0,
        )
    joined = [results[hover(n).name] for n in errors_by_count if n > 1]
    yield Bar("hover: mean force in a joint, N", _largest(joined, "joint_force_n"), 0.1)
    yield Bar("hover: mean torque in a joint, N m", _largest(joined, "joint_torque_nm"), 0.05)
    for n in (2, 4) if quick else (2, 4, 8):
        rows = results[hover(n, "none").name]
        grown = min(j["force_n"] - j["force_first_n"] for row in rows for j in _joints(row))
        yield Bar(f"no compensation, n = {n}: growth of the force, N", grown, 0.1, at_least=True)
    released = [
        [_released(row) for row in results[f"{TITLE} {name}"]]
        for name in ("release", "release, none")
    ]
    (distance, turn), (distance_none, _) = (map(max, zip(*each, strict=True)) for each in released)
    yield Bar("release: first second, mm", 1e3 * distance, 5.0)
    yield Bar("release: first second, mrad", 1e3 * turn, 5.0)
    yield Bar(
        "release: without compensation over with it", distance_none / distance, 3.0, at_least=True
    )


def _noise_bars(results: CaseRows) -> Iterator[Bar]:
    """Bars of what modules sense: by a motion capture, and by white noise."""
    for change, what, apart in ((_as_it_is, "", (5.0, 3.0)), (white, ", white noise", (8.0, 5.0))):
        for n in (1, 4) if what else ():
            share = _share(_errors(change(hover(n)), results), published().hover[n])
            title = f"hover, n = {n}{what}: error over published, worst axis"
            yield Bar(title, share, HOVER_SHARES.get(n, 1.0))
        errors, flights = _errors(change(assembly()), results), results[change(assembly()).name]
        yield Bar(f"assembly{what}: position, worst axis, mm", 1e3 * max(errors[:3]), 3.0)
        yield Bar(f"assembly{what}: angle, worst axis, mrad", 1e3 * max(errors[3:]), 2.0)
        parted = [max(each) for each in zip(*map(_all_released, flights), strict=True)]
        yield Bar(f"assembly{what}: partings, first second, mm", 1e3 * parted[0], apart[0])
        yield Bar(f"assembly{what}: partings, first second, mrad", 1e3 * parted[1], apart[1])
        joined = [results[change(hover(4)).name], flights]
        yield Bar(f"mean force in a joint{what}, N", _largest(joined, "joint_force_n"), 0.03)
        yield Bar(f"mean torque in a joint{what}, N m", _largest(joined, "joint_torque_nm"), 0.01)
        rows = results[change(hover(4)).name]
        for name, unit, limit in (("force_rms_n", "N", 0.3), ("torque_rms_nm", "N m", 0.15)):
            yield Bar(
                f"at an instant{what}, n = 4, RMS, {unit}", _largest_in_joints(rows, name), limit
            )


def _as_it_is(case: ModuleCase) -> ModuleCase:
    return case


def _lemniscate_bars(results: CaseRows) -> Iterator[Bar]:
    for n, angles in published().lemniscate.items():
        if (case := lemniscate(n)).name not in results:
            continue
        errors = _errors(case, results)
        yield Bar(
            f"lemniscate, n = {n}: angle over published, worst axis",
            _share(errors[3:], angles),
            1 / 3,
        )
        yield Bar(f"lemniscate, n = {n}: position, worst axis, mm", 1e3 * max(errors[:3]), 5.0)
    rows = results[f"{TITLE} breeze"]
    worst = max(max(row["modules"]["rmse"]["m2"][:3]) if _done(row) else np.inf for row in rows)
    yield Bar("lemniscate, n = 3, wind 2 m/s: position, worst axis, mm", 1e3 * worst, 5.0)


def _docking_bars(results: CaseRows) -> Iterator[Bar]:
    case = assembly()
    yield Bar(
        "assembly: error over published, worst axis",
        _share(_errors(case, results), case.published),
        0.5,
    )
    after = _largest_in_joints(results[case.name], "force_after_catch_n")
    yield Bar("assembly: force 3 s after a catch, N", after, 0.2)
    gusts = results[f"{TITLE} gusts"]
    docked = sum(j["caught_s"] is not None for row in gusts if _done(row) for j in _joints(row))
    yield Bar("dockings in gusts, done", docked, len(gusts), at_least=True)


def _other_bars(results: CaseRows) -> Iterator[Bar]:
    off_by = [
        max(row["modules"]["rmse"]["m1"][:3]) if _done(row) else np.inf
        for row in results[f"{TITLE} printed"]
    ]
    what = "signs as printed: position, worst axis, mm (inf: ended)"
    yield Bar(what, 1e3 * min(off_by), 100.0, at_least=True)
    off = [
        np.subtract(j["wrench"], DESIRED_WRENCH)
        for row in results[f"{TITLE} wanted"]
        for j in _joints(row)
    ]
    yield Bar("wanted 5 N in a joint: off by, N", max(_size(e[:3]) for e in off), 0.2)
    yield Bar("wanted 1 N m in a joint: off by, N m", max(_size(e[3:]) for e in off), 0.05)
    square = results[f"{TITLE} square"]
    yield Bar("square of four: mean force in a joint, N", _largest([square], "joint_force_n"), 0.2)
    steady = [
        row["modules"]["rmse_steady"]["m1"] if _done(row) else [np.inf] * 6 for row in square
    ]
    errors_by_count, chain = np.max(steady, axis=0).tolist(), _errors(hover(4), results)
    yield Bar(
        "square of four: hover error over published of four, worst axis",
        _share(errors_by_count, published().hover[4]),
        1.0,
    )
    for what, part in (("position", slice(0, 3)), ("angle", slice(3, 6))):
        share = _share(errors_by_count[part], chain[part])
        yield Bar(f"square of four: {what} over that of a chain, worst axis", share, 1.5)


def _errors(case: ModuleCase, results: CaseRows) -> Sequence[float]:
    """Largest errors of a case, infinite where a flight did not come to its end."""
    return errors_of(case, results[case.name]) or [np.inf] * 6


def _size(vector: Array) -> float:
    return float(np.linalg.norm(vector))


def _share(errors: Sequence[float], limits: Sequence[float]) -> float:
    """Largest share that errors are of limits, axis by axis."""
    return float(np.max(np.divide(errors, limits)))


def _done(row: Row) -> bool:
    return bool(row["outcome"] == COMPLETED)


def _joints(row: Row) -> list[dict[str, Any]]:
    """Metrics of a flight's joints; an empty list where it has none."""
    return list(row["modules"]["joints"].values()) if "modules" in row else []


def _largest(flights: Sequence[Sequence[Row]], key: str) -> float:
    """Largest of what flights say of all their joints, infinite where one did not come to its end."""
    return max(row["modules"][key] if _done(row) else np.inf for rows in flights for row in rows)


def _largest_in_joints(rows: Sequence[Row], key: str) -> float:
    """Largest of what flights say of each joint, infinite where one did not come to its end."""
    if not all(map(_done, rows)):
        return float(np.inf)
    return max(joint[key] for row in rows for joint in _joints(row))


def _all_released(row: Row) -> tuple[float, float]:
    """Largest distance [m] and angle [rad] after any release of a flight."""
    if not _done(row):
        return np.inf, np.inf
    released = [joint["released"] for joint in _joints(row)]
    return max(e["position_m"] for e in released), max(e["rotation_rad"] for e in released)


def _released(row: Row) -> tuple[float, float]:
    """Largest distance [m] and angle [rad] after the only release of a flight."""
    (joint,) = _joints(row)
    if not _done(row):
        return np.inf, np.inf
    return joint["released"]["position_m"], joint["released"]["rotation_rad"]
