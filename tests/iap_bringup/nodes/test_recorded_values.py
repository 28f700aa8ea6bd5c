# SPDX-License-Identifier: BSD-3-Clause
"""Values of diagnostics that a recording keeps: as physics_node writes them, and as strangers might."""

import json

import pytest

from iap_bringup.nodes.recorded_values import landings_of
from iap_description.errors import BadInput

SOFT = {"touch_speed_mps": 0.08, "force_n": 52.0, "cut_height_m": 0.0, "stands": True}


def test_landings_are_read_as_physics_node_tells_them():
    records = {"m1": SOFT, "m2": {**SOFT, "cut_height_m": None, "stands": False}}
    assert landings_of(json.dumps(records)) == records


@pytest.mark.parametrize(
    "text",
    [
        "nothing",
        "[" * 100_000,
        "[]",
        '{"m1": 3}',
        json.dumps({"m1": {**SOFT, "stands": "yes"}}),
        json.dumps({"m1": {**SOFT, "force_n": float("nan")}}),
    ],
)
def test_others_are_refused(text):
    with pytest.raises(BadInput, match="landings"):
        landings_of(text)
