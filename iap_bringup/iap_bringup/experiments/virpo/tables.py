# SPDX-License-Identifier: BSD-3-Clause
"""The tables of `iap experiment virpo_tables`: measured figures beside published ones and bars."""

from collections.abc import Sequence

import numpy as np

from iap_bringup.experiments.virpo.cases import (
    ANCHORS,
    MAIN,
    NOISY,
    LocalizationCase,
    LocalizationStudy,
)
from iap_bringup.experiments.virpo.published import PublishedTables
from iap_bringup.experiments.virpo.scores import (
    EstimateResults,
    Figure,
    SeedMean,
    TableCell,
    Tables,
    gain_of,
    mean_of,
    over_seeds,
)
from iap_bringup.experiments.virpo.sequences import (
    TABLE_I,
    TABLE_II,
    rankings,
    sequences,
    size_ranking,
    sizes,
)

CLEAR = ("a1", "a2")  # scenes without fog
JOINT = 0.05  # [m] that joint shall reach in them
JOINT_OF_PILOT = 0.10  # [m] that it shall reach horizontally where a pilot flies
# Bars over vio_uwb [%] and for attitude errors [deg].
GAINS = {"drones": {"virpo": 20.0, "joint": 40.0}, "center": {"joint": 0.0}}
MAX_ATTITUDE = {"drones": {"vio_uwb": 0.3, "joint": 0.3}, "center": {"joint": 0.4}}
MAX_NEES = 2.0  # factor by which the mean NEES may be off one
MIN_BIASES_INSIDE = 0.99  # least share of biases within three deviations
GAIN = "gain over vio_uwb"
GAIN_NOISY = "gain over vio_uwb, tracks with 1 px of noise"
POSITION, ATTITUDE = "position, RMSE in m", "attitude, RMSE in deg"
CONSISTENCY = "consistency, mean over drones"
TABLE_VII, TABLE_VIII = "iap_simulator TABLE VII", "iap_simulator TABLE VIII"


def tables(results: EstimateResults, study: LocalizationStudy, papers: PublishedTables) -> Tables:
    """Everything that the results say; what was not estimated is left out."""
    cells = [
        *anchors(results, study, papers),
        *scenes(results, study, papers),
        *gains(results, study, papers),
        *noisy_gains(results, study),
        *positions(results, study, papers),
        *attitudes(results, study, papers),
        *consistency(results, study, papers),
        *sequences(TABLE_I, "neighbours", results, study, papers),
        *sequences(TABLE_II, "terms", results, study, papers),
        *sizes(results),
    ]
    orders = [
        *rankings(TABLE_I, "neighbours", results, study, papers),
        *rankings(TABLE_II, "terms", results, study, papers),
        *size_ranking(results),
    ]
    estimated = [cell for cell in cells if cell.seeds or cell.failed]
    return Tables(tuple(estimated), tuple(orders))


def anchors(
    results: EstimateResults, study: LocalizationStudy, papers: PublishedTables
) -> list[TableCell]:
    """TABLE VII: one aircraft with 0 to 4 anchors; none worse than published, and more never worse than fewer."""
    case = study.case("single")
    if case is None:
        return []
    cells, best = [], None
    for count, method in enumerate(ANCHORS):
        mean = mean_of(results, case.name, method, case.drones)
        known = papers.anchors.get(count)
        name = f"{count} anchors"
        cells.append(TableCell(TABLE_VII, "RMSE", name, *mean, known, known))
        if best is not None and best.measured is not None:
            cells.append(
                TableCell(TABLE_VII, "not above", name, *mean, bar=_with_noise(best, mean))
            )
        if mean.measured is not None and (best is None or mean.measured < (best.measured or 0.0)):
            best = mean
    return cells


def _with_noise(fewer: SeedMean, more: SeedMean) -> float:
    """Largest error that is no larger than another, given how both scatter [m]."""
    count = max(1, min(fewer.seeds, more.seeds))
    scatter = float(np.hypot(fewer.spread or 0.0, more.spread or 0.0) / np.sqrt(count))
    return (fewer.measured or 0.0) + 2.0 * scatter


def scenes(
    results: EstimateResults, study: LocalizationStudy, papers: PublishedTables
) -> list[TableCell]:
    """TABLE VIII: flights by program and by a scripted pilot, each body of the three-star."""
    cells = []
    for case in study.cases:
        if case.name not in papers.scenes:
            continue
        for body in case.bodies:
            figures: Sequence[Figure] = ("ate", "horizontal", "vertical")
            for figure in figures if case.is_piloted else figures[:1]:
                row = f"{case.name} {body}" + ("" if figure == "ate" else f", {figure}")
                for method in MAIN:
                    mean = mean_of(results, case.name, method, (body,), figure)
                    ate = papers.error("scenes", case.name, body, method)
                    known = ate if figure == "ate" else None
                    bar = known if method == "virpo" else _joint_bar(case, method, figure)
                    cells.append(TableCell(TABLE_VIII, row, method, *mean, known, bar))
    return cells


def _joint_bar(case: LocalizationCase, method: str, figure: Figure) -> float | None:
    """Error that `joint` must reach [m]; None where nothing is asked of the method."""
    if method == "joint" and figure == "horizontal":
        return JOINT_OF_PILOT
    return JOINT if method == "joint" and figure == "ate" and case.name in CLEAR else None


def gains(
    results: EstimateResults, study: LocalizationStudy, papers: PublishedTables
) -> list[TableCell]:
    """Share by which errors fall below vio_uwb's: each flight, and all together."""
    shown = [case for case in study.cases if case.name in papers.scenes]
    cells = []
    for whose in ("drones", "center"):
        rows = {case.name: [case] for case in shown} | {"all": shown}
        for name, cases in rows.items():
            bodies = [(case.name, b) for case in cases for b in _bodies(case, whose)]
            for method in MAIN[2:]:
                mean = gain_of(results, bodies, method)
                known = _published_gain(papers, bodies) if method == "virpo" else None
                bar = GAINS[whose].get(method) if name == "all" else None
                row = f"{name} {whose}"
                cells.append(
                    TableCell(GAIN, row, method, *mean, known, bar, at_least=True, unit="%")
                )
    return cells


def noisy_gains(results: EstimateResults, study: LocalizationStudy) -> list[TableCell]:
    """The same where tracks are as noisy as those of cameras in hand, and what errors are then."""
    shown = [case for case in study.cases if set(NOISY) <= set(case.methods)]
    cells = []
    for case in shown:
        for whose in ("drones", "center"):
            for method in NOISY:
                mean = mean_of(results, case.name, method, _bodies(case, whose))
                cells.append(TableCell(GAIN_NOISY, f"{case.name} {whose}, RMSE", method, *mean))
    for whose in ("drones", "center") if shown else ():
        bodies = [(case.name, b) for case in shown for b in _bodies(case, whose)]
        for method in NOISY[2:]:
            mean = gain_of(results, bodies, method, over="vio_uwb_1px")
            cells.append(TableCell(GAIN_NOISY, f"gain, {whose}", method, *mean, unit="%"))
    return cells


def positions(
    results: EstimateResults, study: LocalizationStudy, papers: PublishedTables
) -> list[TableCell]:
    """Position errors of the same flights: mean over the aircraft, and the central body."""
    cells = []
    for case in (case for case in study.cases if case.name in papers.scenes):
        figures: Sequence[Figure] = ("ate", "horizontal") if case.is_piloted else ("ate",)
        for whose in ("drones", "center"):
            bodies = _bodies(case, whose)
            for figure in figures:
                row = f"{case.name} {whose}" + ("" if figure == "ate" else f", {figure}")
                for method in MAIN:
                    mean = mean_of(results, case.name, method, bodies, figure)
                    ate = papers.mean_error("scenes", (case.name,), bodies, method)
                    known = ate if figure == "ate" else None
                    cells.append(TableCell(POSITION, row, method, *mean, known))
    return cells


def attitudes(
    results: EstimateResults, study: LocalizationStudy, papers: PublishedTables
) -> list[TableCell]:
    """Attitude errors of the same flights: mean over the aircraft, and the central body."""
    shown = [case for case in study.cases if case.name in papers.scenes]
    cells = []
    for case in shown:
        for whose in ("drones", "center"):
            for method in MAIN:
                mean = mean_of(results, case.name, method, _bodies(case, whose), "attitude")
                bar = MAX_ATTITUDE[whose].get(method)
                row = f"{case.name} {whose}"
                cells.append(TableCell(ATTITUDE, row, method, *mean, bar=bar, unit="deg"))
    return cells


def consistency(
    results: EstimateResults, study: LocalizationStudy, papers: PublishedTables
) -> list[TableCell]:
    """NEES of the position for each degree of freedom, and how many biases are within three deviations."""
    shown = [case for case in study.cases if case.name in papers.scenes]
    cells = []
    for method in MAIN:
        scores = [
            score
            for case in shown
            for body in case.drones
            for score in over_seeds(results, case.name, method, body)[0]
        ]
        nees = [score.nees for score in scores if score.nees is not None]
        turned = [each.attitude_nees for each in scores if each.attitude_nees is not None]
        inside = [score.biases for score in scores if score.biases is not None]
        has_bar = method in ("vio_uwb", "joint")
        for name, values, bar, least in (
            ("NEES, at most", nees, MAX_NEES, False),
            ("NEES, at least", nees, 1.0 / MAX_NEES, True),
            ("attitude NEES, at most", turned, MAX_NEES, False),
            ("attitude NEES, at least", turned, 1.0 / MAX_NEES, True),
            ("biases within 3 sigma", inside, MIN_BIASES_INSIDE, True),
        ):
            if values:
                mean = SeedMean(float(np.mean(values)), float(np.std(values)), len(values), 0)
                asked = bar if has_bar else None
                cells.append(TableCell(CONSISTENCY, name, method, *mean, None, asked, least, ""))
    return cells


def _bodies(case: LocalizationCase, whose: str) -> tuple[str, ...]:
    return case.drones if whose == "drones" else ("center",)


def _published_gain(papers: PublishedTables, bodies: Sequence[tuple[str, str]]) -> float | None:
    """Values of TABLE VIII itself [%]."""
    pairs = [
        [papers.error("scenes", case, body, method) for method in ("vio_uwb", "virpo")]
        for case, body in bodies
    ]
    shares = [1.0 - after / before for before, after in pairs if before and after]
    return 100.0 * float(np.mean(shares)) if shares else None
