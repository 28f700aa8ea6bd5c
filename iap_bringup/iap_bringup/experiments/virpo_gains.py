# SPDX-License-Identifier: BSD-3-Clause
"""Tables of `iap experiment virpo_tables`: gains of methods over vio_uwb, and whether their covariances hold."""

from collections.abc import Sequence

import numpy as np

from iap_bringup.experiments.published import Published
from iap_bringup.experiments.virpo_cases import MAIN, NOISY, Case, Study
from iap_bringup.experiments.virpo_scores import Cell, Mean, Results, gain_of, mean_of, over_seeds

GAINS = {
    "drones": {"virpo": 20.0, "joint": 40.0},
    "center": {"joint": 0.0},
}  # bars over vio_uwb [%]
MAX_NEES = 2.0  # factor by which the mean NEES may be off one
MIN_BIASES_INSIDE = 0.99  # least share of biases within three deviations
GAIN = "gain over vio_uwb"
GAIN_NOISY = "gain over vio_uwb, tracks with 1 px of noise"
CONSISTENCY = "consistency, mean over drones"


def gains(results: Results, study: Study, papers: Published) -> list[Cell]:
    """Share by which errors fall below vio_uwb's: each flight, and all together."""
    flown = [case for case in study.cases if case.name in papers.scenes]
    cells = []
    for whose in ("drones", "center"):
        rows = {case.name: [case] for case in flown} | {"all": flown}
        for name, cases in rows.items():
            bodies = [(case.name, b) for case in cases for b in _bodies(case, whose)]
            for method in MAIN[2:]:
                mean = gain_of(results, bodies, method)
                known = _published_gain(papers, bodies) if method == "virpo" else None
                bar = GAINS[whose].get(method) if name == "all" else None
                row = f"{name} {whose}"
                cells.append(Cell(GAIN, row, method, *mean, known, bar, at_least=True, unit="%"))
    return cells


def noisy_gains(results: Results, study: Study) -> list[Cell]:
    """The same where tracks are as noisy as those of cameras in hand, and what errors are then."""
    flown = [case for case in study.cases if set(NOISY) <= set(case.methods)]
    cells = []
    for case in flown:
        for whose in ("drones", "center"):
            for method in NOISY:
                mean = mean_of(results, case.name, method, _bodies(case, whose))
                cells.append(Cell(GAIN_NOISY, f"{case.name} {whose}, RMSE", method, *mean))
    for whose in ("drones", "center") if flown else ():
        bodies = [(case.name, b) for case in flown for b in _bodies(case, whose)]
        for method in NOISY[2:]:
            mean = gain_of(results, bodies, method, over="vio_uwb_1px")
            cells.append(Cell(GAIN_NOISY, f"gain, {whose}", method, *mean, unit="%"))
    return cells


def consistency(results: Results, study: Study, papers: Published) -> list[Cell]:
    """NEES of the position for each degree of freedom, and how many biases are within three deviations."""
    flown = [case for case in study.cases if case.name in papers.scenes]
    cells = []
    for method in MAIN:
        scores = [
            score
            for case in flown
            for body in case.drones
            for score in over_seeds(results, case.name, method, body)[0]
        ]
        nees = [score.nees for score in scores if score.nees is not None]
        inside = [score.biases for score in scores if score.biases is not None]
        is_judged = method in ("vio_uwb", "joint")
        for name, values, bar, least in (
            ("NEES, at most", nees, MAX_NEES, False),
            ("NEES, at least", nees, 1.0 / MAX_NEES, True),
            ("biases within 3 sigma", inside, MIN_BIASES_INSIDE, True),
        ):
            if values:
                mean = Mean(float(np.mean(values)), float(np.std(values)), len(values), 0)
                asked = bar if is_judged else None
                cells.append(Cell(CONSISTENCY, name, method, *mean, None, asked, least, ""))
    return cells


def _bodies(case: Case, whose: str) -> tuple[str, ...]:
    return case.drones if whose == "drones" else ("center",)


def _published_gain(papers: Published, bodies: Sequence[tuple[str, str]]) -> float | None:
    """Of TABLE VIII itself [%]."""
    pairs = [
        [papers.error("scenes", case, body, method) for method in ("vio_uwb", "virpo")]
        for case, body in bodies
    ]
    shares = [1.0 - after / before for before, after in pairs if before and after]
    return 100.0 * float(np.mean(shares)) if shares else None
