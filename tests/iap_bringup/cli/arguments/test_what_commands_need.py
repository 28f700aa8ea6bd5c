# SPDX-License-Identifier: BSD-3-Clause
"""Which commands compile, what their help lists at its end, and which names of scenarios are looked for."""

import pytest

from iap_bringup.cli.arguments import flights, learning, parser, studies
from iap_bringup.cli.arguments.parser import Later
from iap_bringup.cli.arguments.verbs import VERBS, command_parser, verbs_with
from iap_description.errors import BadInput

NOT_COMPILED = {"doctor", "completion", "import", "list", "urdf", "bench"}


@pytest.mark.parametrize("verb", VERBS)
def test_commands_that_fly_or_estimate_look_after_their_compiled_code(verb):
    later = command_parser([verb]).get_default("run")
    assert later.compiles is (verb not in NOT_COMPILED)


@pytest.mark.parametrize("compiles", [True, False])
def test_the_place_of_compiled_code_is_checked_before_a_command_that_compiles(
    compiles, monkeypatch
):
    checked = []
    monkeypatch.setattr(
        "iap_description.process.compilation_cache.check_compilation_cache",
        lambda: checked.append(1),
    )
    assert Later("urdf", "print_urdf", compiles=compiles).load().__name__ == "print_urdf"
    assert len(checked) == compiles


def test_a_scenario_s_name_is_looked_for_at_once_and_a_path_when_it_is_read():
    assert flights._scenario_name("hover") == "hover"
    for path in ("no_such.yaml", "no_such.yml"):
        assert flights._scenario_name(path) == path
    with pytest.raises(BadInput, match="hovver"):
        flights._scenario_name("hovver")


def test_help_of_policies_has_those_that_ship_tasks_and_baselines(monkeypatch):
    lines = learning._policy_names().split("\n")
    assert [line.partition(":")[0] for line in lines] == ["policies", "tasks", "baselines"]
    assert "docking_hard" in lines[0] and "docking" in lines[1] and "script" in lines[2]
    monkeypatch.setattr("iap_learning.policies.policy.shipped_policies", lambda: [])
    assert learning._policy_names().startswith("policies: none ships\n")


def test_texts_of_studies_are_folded_beside_their_names(monkeypatch):
    monkeypatch.setattr(studies, "help_width", lambda: 60)
    lines = studies._study_names().split("\n")
    assert lines[0] == "studies:" and max(map(len, lines)) <= 60
    begins = [line for line in lines[1:] if line[2] != " "]
    others = [line for line in lines[1:] if line[2] == " "]
    named = [line for line in begins if len(line.split()[0]) < 20]
    assert all(line[21] == " " and line[22] != " " for line in named) and len(named) > 20
    assert others and all(line[:22] == 22 * " " and line[22] != " " for line in others)
    text = " ".join(" ".join(lines).split())
    assert "soak Flights of an hour" in text and "[--quick --json]" in text


def test_names_are_folded_at_spaces_alone(monkeypatch):
    monkeypatch.setattr(parser, "help_width", lambda: 20)
    assert parser._folded("kinds: abcdefg-ijklmno, two") == "kinds:\n  abcdefg-ijklmno,\n  two"


def test_the_commands_that_have_an_option_are_named_by_its_whole_name():
    assert verbs_with("--episodes") == ["evaluate"]
    assert set(verbs_with("--gains")) == {"run", "replay", "sweep", "dataset"}
    assert verbs_with("--gain") == []
