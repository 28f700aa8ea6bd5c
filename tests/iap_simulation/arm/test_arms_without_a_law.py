# SPDX-License-Identifier: BSD-3-Clause
"""Arms of platforms whose law cannot hold against their motion."""

from types import SimpleNamespace
from typing import Any

import pytest

from iap_control.actuation.jointed import CollinearActuation
from iap_description.errors import BadInput
from iap_simulation.vehicles.parts import arm_control

ANY: Any = SimpleNamespace(name="crane", actuation=CollinearActuation)


def assembly(arm: object) -> Any:
    return SimpleNamespace(arm=arm)


def test_an_arm_on_joints_that_lie_on_a_line_is_refused_by_its_vehicle_and_key() -> None:
    said = (
        r"^vehicle 'crane': key 'platform\.arm': no law flies an arm on joints that lie on a line$"
    )
    with pytest.raises(BadInput, match=said):
        arm_control(ANY, ANY, assembly(object()), ANY, ANY)


def test_a_platform_without_an_arm_needs_no_law_for_one() -> None:
    assert arm_control(ANY, ANY, assembly(None), ANY, ANY) is None
