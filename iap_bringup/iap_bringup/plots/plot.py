# SPDX-License-Identifier: BSD-3-Clause
"""A plot of a run folder: its name, what it needs of the run, and the function that draws it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from iap_bringup.plots.recorded_run import RecordedRun
from iap_io.plots.plot_style import write_plot

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Need(NamedTuple):
    """Content of a run that plots are drawn of.

    Attributes:
        what: in words, such as "an arm".
        of: the content of a run by the end of its picture's name, which is empty where a run has but one of it; an
            empty mapping where it has none.
    """

    what: str
    of: Callable[[RecordedRun], Mapping[str, Any]]


@dataclass(frozen=True)
class Plot:
    """A figure of a run.

    Attributes:
        name: of its file, without suffix.
        needs: what it is drawn of.
        draw: draws one content of it on an empty figure.
    """

    name: str
    needs: Need
    draw: Callable[[Figure, Any], None]

    @property
    def text(self) -> str:
        """One sentence that says what it shows."""
        return first_sentence(self.draw)

    def write(self, path: Path, content: Any) -> None:  # noqa: ANN401 - as the need has it
        """Write the figure of one content.

        Raises:
            RecordingFailed: the disk is full or cannot be written.
        """
        write_plot(path, lambda figure: self.draw(figure, content))


@dataclass(frozen=True)
class RenderedPlot:
    """A picture of a run that is no figure, such as a rendered scene.

    Attributes:
        name: of its file, without suffix.
        needs: what it is made of.
        write: writes the picture of one content.
    """

    name: str
    needs: Need
    write: Callable[[Path, Any], object]

    @property
    def text(self) -> str:
        """One sentence that says what it shows."""
        return first_sentence(self.write)


def first_sentence(function: Callable[..., object]) -> str:
    """The first line of a function's docstring, without its full stop; empty without one."""
    return (function.__doc__ or "").strip().partition("\n")[0].rstrip(".")


FLIGHT = Need("a state that is a number", lambda run: run.flights)
ROTORS = Need(
    "aircraft that fly by their rotors", lambda run: {} if run.identified else run.flights
)
FOLLOWED = Need(
    "a vehicle whose reference somebody follows",
    lambda run: {end: each for end, each in ROTORS.of(run).items() if each.is_followed},
)
REAL_FLIGHT = Need(
    "a recorded flight of a real aircraft",
    lambda run: {end: each for end, each in run.flights.items() if each.difference is not None},
)
ARM = Need(
    "an arm",
    lambda run: {end: each for end, each in run.flights.items() if each.arm is not None},
)
WRENCHES = Need(
    "a sensor of the contact wrench",
    lambda run: {end: each for end, each in run.flights.items() if each.contact is not None},
)
INTEGRALS = Need("wrench control with both integrals", lambda run: run.with_integrals)
CONTACT = Need("contact with the world", lambda run: run.touching)
COMPARED = Need(
    "flights that it is compared with, in contact",
    lambda run: {end: each for end, each in run.touching.items() if len(each.compared) > 1},
)
INSERTION = Need(
    "a tool in a hole",
    lambda run: {end: each for end, each in run.touching.items() if each.insertion is not None},
)
MODULES = Need("joined modules", lambda run: run.modules)
CAMERAS = Need("a camera", lambda run: {"": run.folder} if run.has_cameras else {})
IDENTIFIED = Need(
    "an end effector's path on a plant identified from logs", lambda run: run.identified
)
