# SPDX-License-Identifier: BSD-3-Clause
"""docs/how_to/add_*.md: every example runs as it stands, flies well, and touches as many files as extend.md says."""

import json
import re
import shlex

import pytest
from pages import BLOCK, DOCS, files_of, output, write_files

pytestmark = pytest.mark.slow
TABLE = (DOCS / "how_to" / "extend.md").read_text(encoding="utf-8")
EXAMPLES = {
    page.stem.removeprefix("add_"): page.read_text(encoding="utf-8")
    for page in sorted((DOCS / "how_to").glob("add_*.md"))
}
PROMISED = {  # name -> number of files, of the table
    name: int(number)
    for name, number in re.findall(
        r"^\| \[[^]]+\]\(add_(\w+)\.md\) \| (\d) \|", TABLE, re.MULTILINE
    )
}
POSITION_RMSE = {  # of flights, where it is not 0.05 [m]
    "scenario": 0.3,  # published gains in wind
    "agent": 0.35,  # it swings 0.4 m away from the reference: 0.28 m RMS over its three seconds
}
WITHIN = {
    "platform": 1,
    "scenario": 1,
    "controller": 1,
    "agent": 1,
    "sensor": 2,
    "engine": 2,
    "plot": 1,
    "term": 4,  # two examples of two files
}


def test_every_row_of_the_table_has_its_example():
    assert EXAMPLES.keys() == PROMISED.keys()


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_touches_as_many_files_as_promised(name):
    assert len(files_of(EXAMPLES[name])) == PROMISED[name]
    assert 1 <= PROMISED[name] <= WITHIN.get(name, 3)


def test_a_kind_of_tasks_is_a_module_of_no_more_than_250_lines():
    (module,) = (
        text for name, text in files_of(EXAMPLES["task_kind"]).items() if name.endswith(".py")
    )
    assert len(module.splitlines()) <= 250


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_runs_as_it_stands(name, tmp_path):
    write_files(EXAMPLES[name], tmp_path)
    typed = [text for kind, _, text in BLOCK.findall(EXAMPLES[name]) if kind == "sh"]
    assert typed
    for line in "".join(typed).splitlines():
        program, *words = shlex.split(line)
        run = {"./iap": ["-P", "-m", "iap_bringup.cli.main"], "python": []}[program]
        output(tmp_path, *run, *words)
    for path in (tmp_path / "runs").glob("*/metrics.json"):  # flights, but not sweeps
        rmse = json.loads(path.read_text(encoding="utf-8"))["position_rmse_m"]
        assert rmse < POSITION_RMSE.get(name, 0.05), (
            f"{path.parent.name}: {rmse} m off its reference"
        )
