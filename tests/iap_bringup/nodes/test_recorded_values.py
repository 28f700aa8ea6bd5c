# SPDX-License-Identifier: BSD-3-Clause
"""Values of diagnostics that a recording keeps: as physics_node writes them, and as strangers might."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from iap_bringup.nodes.recorded_values import Phase, landings_of, phases_of
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


@pytest.mark.parametrize(("phases", "count"), [([0, 1], 1), ([0], 2), ([len(Phase)], 1)])
def test_phases_of_other_latches_are_refused(phases, count):
    message = SimpleNamespace(phases=np.array(phases))
    with pytest.raises(BadInput, match=rf"phases: \[.*\] are not those of {count} latches"):
        phases_of(count, message)
    last = SimpleNamespace(phases=np.array([0, len(Phase) - 1]))
    assert phases_of(2, last) == (0, len(Phase) - 1)
