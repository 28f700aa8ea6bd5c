# SPDX-License-Identifier: BSD-3-Clause
"""Completion in the shell: each command's options, names and keys, by the scripts that are printed."""

import re
import shlex
import shutil
import subprocess
from contextlib import redirect_stdout
from io import StringIO

import pytest

from iap_bringup.cli.arguments.verbs import VERBS, command_parser
from iap_bringup.cli.main import main

ASK = 'COMP_WORDS=(iap {typed}); COMP_CWORD={last}; _iap; echo "${{COMPREPLY[@]}}"'


def printed(shell):
    """The script of a shell."""
    with redirect_stdout(StringIO()) as out:
        assert main(["completion", shell]) == 0
    return out.getvalue()


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    """Completes command lines, whose last words have begun, in one bash."""
    bash, script = shutil.which("bash"), tmp_path_factory.mktemp("completion") / "iap.sh"
    script.write_text(printed("bash"), encoding="utf-8")

    def answers(*lines):
        asked = [
            ASK.format(typed=" ".join(map(shlex.quote, line)), last=len(line)) for line in lines
        ]
        code = "\n".join([f"source {script}", *asked])
        answer = subprocess.run([bash, "-c", code], capture_output=True, text=True, check=True)
        return [line.split() for line in answer.stdout.splitlines()]

    return answers


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        (["loc"], ["localize"]),
        (["run", "figure_eight_"], ["figure_eight_windy"]),
        (["run", "hover", "--platform", "three_sq"], ["three_square"]),
        (["run", "hover", "--set", "wind.sp"], ["wind.speed="]),
        (["run", "hover", "--state"], ["--state-source"]),
        (["list", "sce"], ["scenarios", "scenes"]),
        (["experiment", "virpo_u"], ["virpo_units"]),
        (["localize", "runs/a", "--preset", "pa"], ["paper"]),
        (["replay", "a.mcap", "--angles", ""], ["rad", "deg"]),
        (["identify", "a.csv", "--model", "rot"], ["rotorcraft"]),
        (["completion", "f"], ["fish"]),
    ],
)
def test_words_are_completed(complete, typed, completed):
    assert complete(typed) == [completed]


def test_every_command_is_completed(complete):
    assert complete([""]) == [list(VERBS)]


def test_options_of_every_command_are_completed(complete):
    found = complete(*([verb, "--"] for verb in VERBS))
    for verb, completed in zip(VERBS, found, strict=True):
        actions = command_parser([verb])._actions
        options = [each.option_strings[-1] for each in actions if each.option_strings]
        assert completed == options, verb


def test_nothing_of_the_suite_is_offered_where_a_file_or_a_number_is_expected(complete):
    lines = (["run", "hover", "--out", ""], ["run", "hover", "--seed", ""])
    assert complete(*lines) == [[], []]


def test_fish_is_given_every_command_and_option_once():
    lines = printed("fish").splitlines()
    assert len(lines) == len(set(lines))
    for verb in VERBS:
        own = [line for line in lines if f"subcommand_from {verb}'" in line]
        found = [word for line in own for word in re.findall(r" -l (\S+)", line)]
        actions = command_parser([verb])._actions
        longs = [each.option_strings[-1][2:] for each in actions if each.option_strings]
        assert found == longs, verb
        takes = [each.nargs != 0 for each in actions if each.option_strings]
        asks = [bool(re.search(" -[xr] ", line)) for line in own if " -l " in line]
        assert asks == takes, verb
