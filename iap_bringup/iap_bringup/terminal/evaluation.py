# SPDX-License-Identifier: BSD-3-Clause
"""An evaluation on the terminal: figures, a histogram, and failures by their causes."""

from collections.abc import Mapping

import numpy as np
from rich.console import Console
from rich.table import Table

from iap_bringup.terminal.console import headline
from iap_description.arrays import Array
from iap_learning.evaluation.engines import Recording
from iap_learning.evaluation.pairing import Pairing
from iap_learning.evaluation.results import UNITS, Results

TEXTS = {
    "time": "time of successes",
    "latch_time": "latch caught, of successes",
    "calm_from": "calm from, of successes",
    "force_peak": "largest force",
    "force_error": "RMS error of the force",
    "path_error": "RMS error of the path",
    "settling_time": "time to the force",
    "force_steady": "mean force at the end",
    "depth": "depth",
    "depth_time": "time to the depth",
    "angle": "angle",
    "turn_time": "time to the angle",
    "lock_time": "time to the lock",
    "take_time": "time to the first hold",
    "goal_distance": "distance from the goal",
    "goal_time": "time to the goal",
    "closing_speed": "closing speed at the first touch",
    "offset": "off the axis at the catch",
    "error": "mean error over the last second",
}
BINS, WIDTH = 12, 40


def show(
    console: Console, title: str, results: Results, recordings: Mapping[str, Recording]
) -> None:
    """Show what has become of the episodes."""
    first = headline(title, f"success {success_text(results)}")
    console.print(first, highlight=False, markup=True)
    console.print(_figures(results))
    times = results.measures["time"][results.success]
    lines = histogram(times[np.isfinite(times)], UNITS["time"])
    for line in [f"episodes by {TEXTS['time']}:", *lines] if lines else ():
        console.print(line, highlight=False)
    if results.causes:
        console.print(_causes(results, recordings))


def _figures(results: Results) -> Table:
    table = Table("", "mean", "95 %")
    figures = results.figures
    for name, unit in UNITS.items():
        if name in results.measures:
            numbers = (_number(figures[f"{name}_{kind}"]) for kind in ("mean", "95"))
            table.add_row(f"{TEXTS[name]}, {unit}", *numbers)
    return table


def show_pairing(console: Console, names: tuple[str, str], pairing: Pairing) -> None:
    """Show two agents of these names in the same episodes."""
    first, other = names
    counts = f"both {pairing.both}, {first} alone {pairing.first_alone},"
    rest = f"{other} alone {pairing.other_alone}, neither {pairing.neither}"
    console.print(f"successes by draws: {counts} {rest}", highlight=False, markup=False)
    if not pairing.measures:
        return
    table = Table("where both succeed", first, other, "median difference", f"less by {first}")
    for name, unit in UNITS.items():
        if name in pairing.measures:
            m = pairing.measures[name]
            means = (_number(each) for each in (m.mean, m.other_mean, m.median_difference))
            less, low, high = (100.0 * each for each in (m.less, m.less_low, m.less_high))
            share = f"{less:.0f} % ({low:.0f} to {high:.0f}) of {m.episodes}"
            table.add_row(f"{TEXTS[name]}, {unit}", *means, share)
    console.print(table)


def success_text(results: Results) -> str:
    """Share of successes, with its Wilson interval of 95 % and the numbers."""
    f = results.figures
    rate, low, high = (100.0 * float(f[f"success_{k}"] or 0.0) for k in ("rate", "low", "high"))
    return f"{rate:.1f} % ({low:.1f} to {high:.1f}), {f['successes']} of {f['episodes']}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def histogram(values: Array, unit: str) -> list[str]:
    """Lines of a histogram; none where all values are the same, or there are none."""
    if not len(values) or np.ptp(values) < 1e-9:
        return []
    counts, edges = np.histogram(values, bins=BINS)
    most = int(counts.max())
    return [
        f"{low:6.2f} to {high:5.2f} {unit} {'#' * round(WIDTH * count / most):{WIDTH}} {count}"
        for low, high, count in zip(edges[:-1], edges[1:], counts.tolist(), strict=True)
    ]


def _causes(results: Results, recordings: Mapping[str, Recording]) -> Table:
    table = Table("failures", "episodes", "first seed", "flown again")
    for cause, count in results.causes.items():
        run = recordings.get(cause)
        again = "-" if run is None else f"{run.engine}: {run.outcome}, {run.folder or 'no record'}"
        table.add_row(cause, str(count), str(results.first_failures[cause]), again)
    return table
