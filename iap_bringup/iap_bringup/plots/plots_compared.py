# SPDX-License-Identifier: BSD-3-Clause
"""How hard a flight pushes, beside the flights that its scenario compares it with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iap_bringup.plots.contact_series import Contact
from iap_bringup.plots.plot_style import AIRCRAFT, SIMULATED, WIDTH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEADROOM = 1.12


@dataclass(frozen=True)
class Compared:
    """One of the flights: its name and contact."""

    name: str
    contact: Contact


def draw_compared(figure: Figure, title: str, flights: list[Compared]) -> None:
    """Size of the filtered contact force, the flight itself first, with peaks and last seconds."""
    figure.set_size_inches(WIDTH, 2.5)
    figure.set_layout_engine("constrained")
    figure.suptitle(title, x=0.01, ha="left", fontweight="bold")
    axes = figure.subplots()
    colors = (SIMULATED["color"], *AIRCRAFT)
    largest = 0.0
    for k, (flown, color) in enumerate(zip(flights, colors, strict=False)):
        force = np.linalg.norm(flown.contact.filtered[:, :3], axis=1)
        steady = force[flown.contact.steady].mean()
        figures = f"peak {force.max():.1f} N, last {flown.contact.steady_s:.3g} s {steady:.1f} N"
        style = {**SIMULATED, "color": color, "zorder": 3.0 - 0.1 * k}
        axes.plot(flown.contact.t, force, label=f"{flown.name}: {figures}", **style)
        largest = max(largest, float(force.max()))
    axes.set_xlim(
        min(f.contact.start for f in flights), max(float(f.contact.t[-1]) for f in flights)
    )
    axes.set_ylim(0.0, HEADROOM * max(largest, 0.1))
    axes.set(xlabel="time [s]", ylabel="contact force, filtered [N]")
    figure.legend(loc="outside lower center", ncols=2)
