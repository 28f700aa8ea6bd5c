# SPDX-License-Identifier: BSD-3-Clause
"""The table of studies: their names and options on the command line."""

from collections.abc import Callable
from typing import Any, NamedTuple

from iap_bringup.experiments import studies
from iap_bringup.experiments.nodes import studies as node_studies
from iap_bringup.terminal.console import make_console
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
    ExperimentCommand(studies.free_flight, ("json",)),
    ExperimentCommand(studies.engines, ("quick", "scenarios", "json")),
    ExperimentCommand(studies.readme, ("json",)),
    ExperimentCommand(node_studies.nodes),
    ExperimentCommand(node_studies.node_bars, ("json",)),
    ExperimentCommand(node_studies.remote_cameras, ("json",)),
    ExperimentCommand(node_studies.localization_nodes),
    ExperimentCommand(studies.soak),
    ExperimentCommand(studies.contact, ("json",)),
    ExperimentCommand(studies.peg_in_hole, ("json",)),
    ExperimentCommand(studies.landing, ("quick", "json")),
    ExperimentCommand(studies.identification, ("quick", "json")),
    ExperimentCommand(studies.flight_logs, ("logs", "json")),
    ExperimentCommand(studies.firmware, ("quick", "firmware", "json")),
    ExperimentCommand(studies.sensors, ("json",)),
    ExperimentCommand(studies.photometry, ("json",)),
    ExperimentCommand(studies.cameras, ("json",)),
    ExperimentCommand(studies.tasks, ("json",)),
    ExperimentCommand(studies.docking, ("quick", "json")),
    ExperimentCommand(studies.rays),
    ExperimentCommand(studies.films, ("out",)),
    ExperimentCommand(studies.modules, ("quick", "json", "out")),
    ExperimentCommand(studies.virpo_tables, ("quick", "flights", "out", "json")),
    ExperimentCommand(studies.virpo_faults, ("quick",)),
    ExperimentCommand(studies.virpo_light, ("quick", "out", "json")),
    ExperimentCommand(studies.virpo_zed, ("quick", "out", "json")),
    ExperimentCommand(
        studies.virpo_units, ("quick", "flights", "out", "since", "seconds", "json")
    ),
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
    command.run(make_console(), **options)
