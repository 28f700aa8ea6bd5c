# SPDX-License-Identifier: BSD-3-Clause
"""The parser of the command line: what is mistyped is refused in one line, with the names that were meant."""

import argparse
import importlib
import shutil
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

from iap_description.config.alternatives import alternatives, near
from iap_description.errors import BadInput

HELP_WIDTH = 100  # columns that are filled at most, in wider terminals, too


class Later(NamedTuple):
    """A function of a module of `iap_bringup.cli` that is imported once the command line is understood.

    Attributes:
        module: name of the module.
        function: takes the options and returns the exit code.
        compiles: whether it may need compiled kernels.
    """

    module: str
    function: str
    compiles: bool = True

    def load(self) -> Callable[[argparse.Namespace], int]:
        """Import the module.

        Raises:
            BadInput: compiled kernels cannot be kept.
        """
        if self.compiles:
            from iap_description.process.compilation_cache import check_compilation_cache

            check_compilation_cache()
        function: Callable[[argparse.Namespace], int] = getattr(
            importlib.import_module(f"iap_bringup.cli.{self.module}"), self.function
        )
        return function


class CommandParser(argparse.ArgumentParser):
    """A parser whose errors are `BadInput`.

    Attributes:
        examples: whole command lines.
        names: makes lines of names for the end of the help, which take time to find.
    """

    examples: Sequence[str] = ()
    names: Callable[[], str] | None = None

    def format_help(self) -> str:
        """The help, with examples and names at its end."""
        parts = [super().format_help()]
        if self.examples:
            parts.append("\n".join(["examples:", *(f"  {each}" for each in self.examples), ""]))
        if self.names is not None:
            parts.append("".join(f"{_folded(line)}\n" for line in self.names().split("\n")))
        return "\n".join(parts)

    def error(self, message: str) -> NoReturn:
        """Refuse what was typed.

        Raises:
            BadInput: always.
        """
        command = self.prog.partition(" ")[2]
        raise BadInput(
            f"{command}: {message}" if command else f"{message} (see {self.prog} --help)"
        )

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # noqa: ANN401 - argparse's own
        """Options and what is left of the arguments; a command leaves none."""
        options, rest = super().parse_known_args(args, namespace)
        if rest:
            self.error(f"unknown argument '{rest[0]}'{self._meant(rest[0])}")
        return options, rest

    def _meant(self, argument: str) -> str:
        """Options that are like an unknown one."""
        known = [option for action in self._actions for option in action.option_strings]
        meant = near(argument.partition("=")[0], known)
        return f": {meant}" if argument.startswith("-") and meant else ""

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:  # noqa: ANN401
        """Values of an option; of ``--option=--`` argparse of Python 3.11 makes an empty list."""
        if action.option_strings and arg_strings == ["--"]:
            raise argparse.ArgumentError(action, "expected a value")
        return super()._get_values(action, arg_strings)

    def _check_value(self, action: argparse.Action, value: Any) -> None:  # noqa: ANN401
        """Refuse a value that is no choice, as argparse does, with those that are like it."""
        if action.choices is not None and value not in action.choices:
            names: Sequence[str] = list(map(str, action.choices))
            raise argparse.ArgumentError(
                action, f"unknown '{value}': {alternatives(str(value), names)}"
            )


def help_width() -> int:
    """Columns of the terminal, of which help fills no more than `HELP_WIDTH`."""
    return min(HELP_WIDTH, shutil.get_terminal_size().columns)


def _folded(line: str) -> str:
    """A line of names, such as ``tasks: hold, land``, in the columns that there are."""
    return textwrap.fill(line, help_width(), subsequent_indent="  ", break_on_hyphens=False)
