# SPDX-License-Identifier: BSD-3-Clause
"""Places of joined modules, and loops of joints that close or miss themselves."""

import numpy as np
import pytest

from iap_control.modules.structure import ModuleJoint, _positions
from iap_description.errors import BadInput


def square(gap):
    """Four modules in a square of half a metre, whose last joint misses by a gap [m]."""
    return {
        "j1": ModuleJoint(0, 1, (0.5, 0.0, 0.0)),
        "j2": ModuleJoint(1, 2, (0.0, 0.5, 0.0)),
        "j3": ModuleJoint(3, 2, (0.5, 0.0, 0.0)),
        "j4": ModuleJoint(0, 3, (0.0, 0.5 + gap, 0.0)),
    }


def test_positions_go_along_joints_from_either_side():
    found = _positions(square(0.0), 2)
    expected = {0: (-0.5, -0.5, 0.0), 1: (0.0, -0.5, 0.0), 2: (0.0, 0.0, 0.0), 3: (-0.5, 0.0, 0.0)}
    assert found.keys() == expected.keys()
    for module, position in expected.items():
        np.testing.assert_allclose(found[module], position, atol=1e-12)


def test_a_loop_may_miss_itself_by_a_micrometre():
    assert len(_positions(square(0.95e-6), 0)) == 4
    with pytest.raises(BadInput, match=r"a closed loop of joints misses itself by 1\.05e-06 m"):
        _positions(square(1.05e-6), 0)


def test_modules_that_no_joint_reaches_have_no_position():
    assert set(_positions({"j1": ModuleJoint(0, 1, (0.5, 0.0, 0.0))}, 0)) == {0, 1}
    assert set(_positions({"j1": ModuleJoint(0, 1, (0.5, 0.0, 0.0))}, 2)) == {2}
