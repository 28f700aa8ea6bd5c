# SPDX-License-Identifier: BSD-3-Clause
"""The command ``iap bench``."""

from pathlib import Path

import pytest

from iap_bringup.cli import studies
from iap_bringup.cli.main import main


def test_a_name_that_no_benchmark_has_is_refused_with_those_that_there_are(monkeypatch, capsys):
    monkeypatch.setattr(studies.subprocess, "call", lambda _: studies.EXIT_NO_TESTS)
    assert main(["bench", "nope"]) == 2
    message, _, names = capsys.readouterr().err.strip().rpartition(": ")
    assert message == "iap: bench: no benchmark's name has 'nope' in it"
    files = (Path(__file__).parents[3] / "benchmarks").glob("test_*.py")
    assert set(names.split(", ")) == {each.stem.removeprefix("test_") for each in files}


@pytest.mark.parametrize("code", [0, 1])
def test_what_benchmarks_say_is_the_command_s_exit_code(monkeypatch, code):
    monkeypatch.setattr(studies.subprocess, "call", lambda _: code)
    assert main(["bench", "speed"]) == code
