# SPDX-License-Identifier: BSD-3-Clause
"""The help of every command: examples that work, defaults, units and columns of a terminal."""

import re
import shlex

import pytest

from iap_bringup.cli.arguments.verbs import VERBS, command_parser
from iap_bringup.cli.main import main, parse

COLUMNS = 80  # of a terminal that nobody has widened
UNIT = re.compile(r"\[.+\]|factor")  # of numbers: a unit, or a pure factor


def options_of(verb):
    """Options of a verb by their long names."""
    actions = command_parser([verb])._actions
    return {each.option_strings[-1]: each for each in actions if each.option_strings}


def help_of(capsys, *typed):
    """What a command line prints that asks for help."""
    with pytest.raises(SystemExit) as stop:
        main([*typed, "--help"])
    assert stop.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("typed", [(), *((verb,) for verb in VERBS), ("dataset", "--policy=x")])
def test_help_fits_a_terminal_and_ends_with_examples(typed, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    text = help_of(capsys, *typed)
    assert all(len(line) <= COLUMNS for line in text.splitlines())
    assert "\nexamples:\n  " in text


def test_every_command_says_what_it_does_and_no_two_the_same():
    said = [command_parser([verb]).description for verb in VERBS]
    said.append(command_parser(["dataset", "--policy", "x"]).description)
    assert all(text and text[0].isupper() and text.endswith(".") for text in said)
    assert len(set(said)) == len(said)


@pytest.mark.parametrize("verb", VERBS)
def test_examples_are_understood(verb):
    for example in command_parser([verb]).examples:
        typed = shlex.split(example.removeprefix('eval "$(').removesuffix(')"'))
        assert typed[:2] == ["iap", verb]
        arguments = typed[1 : typed.index(">") if ">" in typed else None]
        parse(arguments[: arguments.index(">>") if ">>" in arguments else None])


@pytest.mark.parametrize("verb", VERBS)
def test_options_say_what_is_taken_without_them(verb):
    for name, action in options_of(verb).items():
        if action.nargs == 0 or action.required:
            continue
        assert "default" in action.help or "may be repeated" in action.help, name


@pytest.mark.parametrize("verb", VERBS)
def test_options_of_numbers_have_units(verb):
    for name, action in options_of(verb).items():
        if action.type is float:
            assert UNIT.search(action.help), name


def test_defaults_are_those_that_the_help_states():
    stated = 0
    for verb in VERBS:
        for name, action in options_of(verb).items():
            words = re.findall(r"\(default: (\d[\dx.]*)\)$", action.help or "")
            if not words or isinstance(action.default, str | None):
                continue
            several = isinstance(action.default, tuple)
            shown = "x".join(map(str, action.default)) if several else f"{action.default:g}"
            assert words[0] == shown, (verb, name)
            stated += 1
    assert stated >= 10


def test_help_names_what_there_is(capsys):
    for typed, name in (
        ("experiment", "free_flight"),
        ("plot", "thrusts"),
        ("evaluate", "script"),
        ("doctor", "nothing flies without it"),
        ("completion", "The first example is for this shell"),
        ("sweep", "goes on with the same command"),
        ("dataset", "goes on with the same command"),
        ("cluster", "The head makes the token"),
        ("identify", "platform that 'iap run SCENARIO"),
    ):
        assert name in help_of(capsys, typed)
