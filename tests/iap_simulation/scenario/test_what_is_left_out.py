# SPDX-License-Identifier: BSD-3-Clause
"""A scenario that says nothing of it draws nothing; how many vehicles fly, and which delays may be drawn."""

import numpy as np
import pytest
from strict_records import lax_fields, plain_fields

from iap_description.errors import BadInput
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.scenario_keys import Draw
from iap_simulation.scenario.vehicle_trees import mapping_of, vehicles_of


def resolved(name, *assignments):
    return resolve(name, Options(assignments=assignments))[0]


def test_nothing_is_drawn_and_the_compiled_run_flies_unless_it_is_said():
    scenario = resolved("hover")
    assert not any(np.any(value) for value in scenario.draw.model_dump().values())
    assert scenario.compiled
    left_out = {key: each.default for key, each in Draw.model_fields.items()}
    assert not any(np.any(left_out[key]) for key in ("joints_deg", "stiffness", "object_position"))
    assert not any(left_out[key] for key in left_out if key.startswith(("motion_", "hinge_")))
    assert not left_out["object_mass"] and not np.any(left_out["object_rpy_deg"])


def test_delays_are_drawn_around_one_that_is_no_shorter():
    assert resolved("hover", "model_error.delay=0.02", "draw.delay=0.02").draw.delay == 0.02
    with pytest.raises(
        BadInput, match=r"'draw\.delay': 0\.03 s is more than model_error\.delay, 0"
    ):
        resolved("hover", "model_error.delay=0.02", "draw.delay=0.03")


def test_a_hundred_vehicles_fly_together_at_most_and_each_is_a_mapping():
    assert len(vehicles_of({"vehicles": [{}] * 100}, "here")) == 100
    assert vehicles_of({"platform": "f450"}, "here") == [{"platform": "f450"}]
    for vehicles, said in (
        ([{}] * 101, "101 vehicles, at most 100 fly together"),
        ([], "a list with at least one vehicle"),
        ({"a": 1}, "a list with at least one vehicle"),
        ([{}, 3], r"a mapping is expected \(got 3\)"),
    ):
        with pytest.raises(BadInput, match=f"^here: key 'vehicles': {said}"):
            vehicles_of({"vehicles": vehicles}, "here")


@pytest.mark.parametrize("value", [None, 3, "word", [1]])
def test_what_stands_below_a_key_is_a_mapping(value):
    assert mapping_of({"start": {"mode": "hover"}}, "start", "here") == {"mode": "hover"}
    with pytest.raises(BadInput, match="^here: key 'start': a mapping is expected"):
        mapping_of({"start": value}, "start", "here")
    with pytest.raises(BadInput, match="^here: key 'start': a mapping is expected"):
        mapping_of({}, "start", "here")


def test_eight_modules_make_the_longest_chain():
    assert len(resolved("module_lemniscate", "modules.count=8").vehicles) == 8
    with pytest.raises(BadInput, match=r"modules\.count"):
        resolved("module_lemniscate", "modules.count=9")


def test_a_number_of_a_scenario_is_no_text_and_a_switch_is_no_number_wherever_it_stands():
    assert len(list(plain_fields(Scenario))) > 400
    assert lax_fields(Scenario) == []
