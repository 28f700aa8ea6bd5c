# SPDX-License-Identifier: BSD-3-Clause
"""The table of studies: their names and options on the command line."""

from collections.abc import Callable
from typing import Any, NamedTuple

from rich.console import Console

from iap_bringup.experiments.studies import (
    cameras,
    contact,
    docking,
    engines,
    films,
    free_flight,
    identification,
    landing,
    localization_nodes,
    modules,
    node_bars,
    nodes,
    peg_in_hole,
    photometry,
    rays,
    readme,
    sensors,
    soak,
    tasks,
    virpo_faults,
    virpo_tables,
    virpo_units,
)
from iap_description.errors import BadInput


class ExperimentCommand(NamedTuple):
    """A study of ``iap experiment``.

    Attributes:
        run: runs it; its name and docstring are those of the study, its keywords the study's options.
        options: of the command line that it takes.
    """

    run: Callable[..., None]
    options: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name on the command line."""
        return self.run.__name__

    @property
    def text(self) -> str | None:
        """One sentence for the help."""
        return self.run.__doc__


EXPERIMENTS = (
    ExperimentCommand(free_flight, ("json",)),
    ExperimentCommand(engines, ("quick", "scenarios", "json")),
    ExperimentCommand(readme, ("json",)),
    ExperimentCommand(nodes),
    ExperimentCommand(node_bars, ("json",)),
    ExperimentCommand(localization_nodes),
    ExperimentCommand(soak),
    ExperimentCommand(contact, ("json",)),
    ExperimentCommand(peg_in_hole, ("json",)),
    ExperimentCommand(landing, ("quick", "json")),
    ExperimentCommand(identification, ("quick", "json")),
    ExperimentCommand(sensors, ("json",)),
    ExperimentCommand(photometry, ("json",)),
    ExperimentCommand(cameras, ("json",)),
    ExperimentCommand(tasks, ("json",)),
    ExperimentCommand(docking, ("quick", "json")),
    ExperimentCommand(rays),
    ExperimentCommand(films, ("out",)),
    ExperimentCommand(modules, ("quick", "json", "out")),
    ExperimentCommand(virpo_tables, ("quick", "flights", "out")),
    ExperimentCommand(virpo_faults, ("quick",)),
    ExperimentCommand(virpo_units, ("quick", "flights", "out", "since", "seconds")),
)


def run_experiment(name: str, **options: Any) -> None:  # noqa: ANN401 - as each study has them
    """Run a study by name.

    Raises:
        BadInput: it does not take these options.
    """
    command = next(each for each in EXPERIMENTS if each.name == name)
    for option in options:
        if option not in command.options:
            users = ", ".join(each.name for each in EXPERIMENTS if option in each.options)
            raise BadInput(f"experiment {name}: --{option} is for {users}")
    command.run(Console(), **options)
