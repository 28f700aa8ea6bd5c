# SPDX-License-Identifier: BSD-3-Clause
"""A star in the path of an assignment stands for every entry of a list."""

import pytest

from iap_description.config.record import override
from iap_description.errors import BadInput

TREE = {"vehicles": [{"noise": {"p": 0.0}}, {"noise": {"p": 0.0}}], "seed": 1}


def test_a_star_sets_a_key_of_every_entry_to_a_value_of_its_own():
    out = override(TREE, ["vehicles.*.noise={p: 0.1}"])
    assert [each["noise"] for each in out["vehicles"]] == [{"p": 0.1}] * 2
    assert out["vehicles"][0]["noise"] is not out["vehicles"][1]["noise"]
    assert override(TREE, ["vehicles.*.noise.p=0.2"])["vehicles"][1]["noise"]["p"] == 0.2


@pytest.mark.parametrize("path", ["seed.*.p", "vehicles.7.*.p", "nobody.*.p"])
def test_a_star_where_there_is_no_list_is_refused_by_its_path(path):
    with pytest.raises(BadInput, match=f"'{path.partition('.*')[0]}': no list"):
        override(TREE, [f"{path}=1"])


def test_a_key_that_entries_lack_is_refused_as_without_a_star():
    with pytest.raises(BadInput, match=r"unknown key 'vehicles.0.mass'"):
        override(TREE, ["vehicles.*.mass=1"])
