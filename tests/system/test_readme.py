# SPDX-License-Identifier: BSD-3-Clause
"""README's commands and code are what a reader will type, so they must work."""

import re
import shlex
from pathlib import Path

import pytest
from pages import PAGES, ROOT, commands, name_of, output

from iap_bringup.cli.arguments.verbs import VERBS
from iap_bringup.cli.main import main, parse
from iap_bringup.cli.options import scenario_options
from iap_description.errors import BadInput
from iap_simulation.scenario.resolving import SCENARIOS, resolve

README = ROOT / "README.md"
TYPED = sorted({each for page in PAGES for each in commands(page)})
SHORTER = {  # command or verb -> options by which a command is done within seconds
    "run aircraft_lost": [*"--duration=0.5 --no-plot --no-view --set=faults.0.at=0.2".split()],
    "run": ["--duration=0.2", "--no-plot", "--no-view"],
    "replay": ["--duration=0.2", "--no-plot", "--no-view"],
    "sweep": ["--seeds=1", "--duration=0.2", "--no-plot"],
    "evaluate": ["--episodes=2", "--no-record"],
    "train": ["--steps=1"],
}
ELSEWHERE = {  # commands that take minutes -> the tests of what they call
    "experiment readme": "tests/iap_bringup/experiments/test_readme_figures.py",
    "experiment virpo_tables": "tests/iap_bringup/experiments/virpo",
    "bench parallel": "benchmarks",
    "train docking --seed 1": "tests/iap_learning/training",
}
FLYING = ("run ", "sweep ")
CUT = {"run module_assembly"}  # flights that fail where they end before their task does
LONGEST_LINE, MOST_LINES = 160, 120


def test_commands_are_understood():
    for command in TYPED:
        if command in VERBS:  # named, not typed
            continue
        options = parse(shlex.split(command))
        if command.startswith("run ") and not options.scenario.endswith(".yaml"):
            assert options.scenario in SCENARIOS.names(), command


def test_keys_and_names_in_commands_exist():
    for command in TYPED:
        options = parse(shlex.split(command)) if command.startswith(FLYING) else None
        if options is not None and not options.scenario.endswith(".yaml"):
            try:
                resolve(options.scenario, scenario_options(options))
            except BadInput as error:  # files are a reader's own
                assert "no such file" in str(error), command


def test_it_is_short():
    lines = README.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= MOST_LINES
    assert max(map(len, lines)) <= LONGEST_LINE


MODULES = [*PAGES, *ROOT.glob("iap_*/iap_*/**/*.py")]


def is_module(name: str) -> bool:
    """True if a dotted name begins with a folder or a module below its package."""
    first, *rest = name.split(".")
    homes = [ROOT.joinpath(first, first, *rest[:k]) for k in range(len(rest), 0, -1)]
    return any(h.is_dir() or h.with_suffix(".py").is_file() for h in homes)


def test_modules_named_are_there():
    named = {
        (name_of(page), name)
        for page in MODULES
        for name in re.findall(r"`(iap_[a-z]+(?:\.\w+)+)", page.read_text(encoding="utf-8"))
    }
    assert not [(page, name) for page, name in sorted(named) if not is_module(name)]


def test_a_command_that_takes_minutes_has_tests_of_its_own():
    assert ELSEWHERE.keys() <= set(commands(README))
    for place in ELSEWHERE.values():
        assert (ROOT / place).exists(), place


@pytest.mark.slow
def test_commands_run(tmp_path, monkeypatch, capsys):
    """In README's order, but flights with sensors before what reads them."""
    (tmp_path / "iap_bringup").symlink_to(ROOT / "iap_bringup")
    monkeypatch.chdir(tmp_path)
    for name, text in (("my_scenario", "extends: hover"), ("my_platform", "extends: three_star")):
        Path(f"{name}.yaml").write_text(f"{text}\n", encoding="utf-8")
    typed = [each for each in commands(README) if each not in ELSEWHERE]
    reading = [each for each in typed if "runs/" in each]
    with_sensors = [each for each in typed if "--sensors" in each]
    first = [*with_sensors, *(each for each in typed if each not in (*reading, *with_sensors))]
    for command in (*first, *reading):
        words = shlex.split(command)
        code = main([*words, *SHORTER.get(command, SHORTER.get(words[0], []))])
        assert code == int(command in CUT), f"{command}\n{capsys.readouterr().err}"


@pytest.mark.slow
def test_python_example_runs(tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    position_rmse_m = float(output(tmp_path, "-c", code).splitlines()[0])
    assert position_rmse_m < 0.01
