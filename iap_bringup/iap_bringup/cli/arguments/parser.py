# SPDX-License-Identifier: BSD-3-Clause
"""The parser of the command line: what is mistyped is refused in one line, with the names that were meant."""

import argparse
import importlib
import shutil
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

from iap_description.config.alternatives import alternatives, near, nearest
from iap_description.errors import BadInput

NUMBERS = {int: "a whole number", float: "a number"}  # that a value is of
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


class Need(NamedTuple):
    """Options that act on nothing without another one.

    Attributes:
        options: by their names in the namespace.
        other: the option that they need, as it is typed.
        is_met: tells of parsed options whether that one is given.
    """

    options: tuple[str, ...]
    other: str
    is_met: Callable[[argparse.Namespace], bool]


class CommandParser(argparse.ArgumentParser):
    """A parser whose errors are `BadInput`.

    Attributes:
        examples: whole command lines.
        names: makes lines of names for the end of the help, which take time to find.
        commands_with: finds the commands that have an option.
        needs: of its options.
    """

    examples: Sequence[str] = ()
    names: Callable[[], str] | None = None
    commands_with: Callable[[str], Sequence[str]] = staticmethod(lambda _: ())

    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - argparse's own
        super().__init__(*arguments, **options)
        self.needs: list[Need] = []

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
        text = f"{command}: {message}" if command else message
        needs_help = not command or "arguments are required" in message
        raise BadInput(f"{text} (see {self.prog} --help)" if needs_help else text)

    def options(self) -> list[str]:
        """The options of this parser as they are typed."""
        return [option for action in self._actions for option in action.option_strings]

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # noqa: ANN401 - argparse's own
        """Options and what is left of the arguments; a command leaves none."""
        try:
            options, rest = super().parse_known_args(args, namespace)
        except BadInput:  # what is missing may be what a mistyped option was to give
            self._refuse_unknown(args)
            raise
        if rest:
            self.error(f"unknown argument '{rest[0]}'{self._meant(rest[0]) or _unquoted(args)}")
        for need in self.needs:
            self._refuse_alone(need, options)
        return options, rest

    def _refuse_alone(self, need: Need, options: argparse.Namespace) -> None:
        """Refuse an option that acts on nothing without another one."""
        for name in need.options:
            value = getattr(options, name)
            if value != self.get_default(name) and not need.is_met(options):
                self.error(f"{self._typed(name, value)}: acts on nothing without {need.other}")

    def _typed(self, name: str, value: object) -> str:
        """The option, as it is typed, that gives a value to a name of the namespace."""
        giving = [each for each in self._actions if each.dest == name]
        switch = next((each for each in giving if each.const == value), giving[0])
        return switch.option_strings[-1]

    def _refuse_unknown(self, arguments: Sequence[str]) -> None:
        """Refuse the first option that there is not; those of a command are its own parser's."""
        for each in arguments:
            if not each.startswith("-") and self._subparsers is not None:
                return
            name = each.partition("=")[0]
            if name[:2] == "--" != name and not any(
                option.startswith(name) for option in self.options()
            ):
                self.error(f"unknown argument '{name}'{self._meant(name)}")

    def _meant(self, argument: str) -> str:
        """Options that are like an unknown one, or the commands that have it."""
        option = argument.partition("=")[0]
        if not option.startswith("-"):
            return ""
        if nearest(option, self.options()) is None and (commands := self.commands_with(option)):
            return f": an option of {', '.join(commands)}"
        meant = near(option, self.options())
        return f": {meant}" if meant else ""

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:  # noqa: ANN401
        """The value of a text; of a number argparse would say the name of Python's type."""
        try:
            return super()._get_value(action, arg_string)
        except argparse.ArgumentError as error:
            kind = next((text for of, text in NUMBERS.items() if action.type is of), "")
            text = f"{kind} is expected, found '{arg_string}'" if kind else error.message
            raise argparse.ArgumentError(action, text) from error

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


def _unquoted(arguments: Sequence[str]) -> str:
    """The remedy for a value that the shell has cut at its spaces; empty where none is open."""
    is_cut = any(each.count("[") > each.count("]") for each in arguments)
    return ": quote a value with spaces, such as --set 'KEY=[1, 2]'" if is_cut else ""


def help_width() -> int:
    """Columns of the terminal, of which help fills no more than `HELP_WIDTH`."""
    return min(HELP_WIDTH, shutil.get_terminal_size().columns)


def _folded(line: str) -> str:
    """A line of names, such as ``tasks: hold, land``, in the columns that there are."""
    return textwrap.fill(line, help_width(), subsequent_indent="  ", break_on_hyphens=False)
