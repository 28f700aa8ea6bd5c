# SPDX-License-Identifier: BSD-3-Clause
"""Commands of the command line, each with the module that adds its options."""

import importlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from iap_bringup.cli.arguments.parser import CommandParser


class Verb(NamedTuple):
    """A command of the command line.

    Attributes:
        module: of the folder `arguments`, with a function add_COMMAND(parser).
        text: for the help.
        by_option: modules in its place where an option is typed.
    """

    module: str
    text: str
    by_option: Mapping[str, str] = {}

    def module_for(self, arguments: Sequence[str]) -> str:
        """The module for what is typed."""
        for option, module in self.by_option.items():
            if any(each.startswith(option) for each in arguments):
                return module
        return self.module


VERBS = {
    "run": Verb("flights", "fly a scenario"),
    "replay": Verb("flights", "fly the commands of a recorded flight"),
    "sweep": Verb("flights", "fly a scenario for many values and seeds"),
    "dataset": Verb(
        "flights", "record a scenario for many values and seeds", {"--policy": "learning"}
    ),
    "cluster": Verb("flights", "join this machine to a cluster that flies sweeps"),
    "evaluate": Verb("learning", "fly a policy over many episodes, and count its successes"),
    "train": Verb("learning", "train a policy"),
    "inspect": Verb("recordings", "show what is in an autopilot's flight log"),
    "localize": Verb("recordings", "estimate poses from recorded sensors"),
    "identify": Verb("recordings", "fit a model to logs of flights"),
    "list": Verb("studies", "list scenarios, platforms, sensors and other names"),
    "doctor": Verb("environment", "check the installation, and name the remedies"),
    "completion": Verb("environment", "print a script for completion in the shell"),
    "import": Verb(
        "imports", "make a platform of a vehicle's URDF, SDF or MJCF, or an object of a mesh"
    ),
    "urdf": Verb("studies", "print a platform as URDF"),
    "view": Verb("pictures", "show a run in the browser"),
    "plot": Verb("pictures", "draw a run's plots again"),
    "render": Verb("pictures", "make a picture or a video of a run, or its images again"),
    "experiment": Verb("studies", "run a study and print its table"),
    "fuzz": Verb("studies", "try damaged input on every command"),
    "bench": Verb("studies", "measure the speed"),
}


def add_arguments(command: CommandParser, name: str, arguments: Sequence[str]) -> None:
    """Add the options of a command, for what is typed, to its parser."""
    module = importlib.import_module(
        f"iap_bringup.cli.arguments.{VERBS[name].module_for(arguments)}"
    )
    getattr(module, f"add_{name}")(command)


def command_parser(arguments: Sequence[str]) -> CommandParser:
    """The parser of one command line's command alone, for those who want to know its options."""
    command = CommandParser(prog=f"iap {arguments[0]}")
    add_arguments(command, arguments[0], arguments)
    return command


def verbs_with(option: str) -> list[str]:
    """The commands that have an option of this exact name."""
    return [name for name in VERBS if option in command_parser([name]).options()]
