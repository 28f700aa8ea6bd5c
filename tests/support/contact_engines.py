# SPDX-License-Identifier: BSD-3-Clause
"""The engines with contact, for tests that hold for each; an extra is left out where it is not installed."""

import pytest

from iap_physics.engines.make import is_installed

NAMES = [
    pytest.param(name, marks=pytest.mark.skipif(not is_installed(name), reason=f"without {name}"))
    for name in ("pybullet", "mujoco")
]
