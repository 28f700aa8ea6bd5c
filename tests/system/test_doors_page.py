# SPDX-License-Identifier: BSD-3-Clause
"""The commands of docs/how_to/doors.md, and that its door opens in each of its seeds."""

import numpy as np
import pytest
from pages import DOCS, run_commands, write_files

from iap_physics.engines.make import is_installed
from iap_simulation.batch.worlds import Worlds

PAGE = (DOCS / "how_to" / "doors.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_commands_of_the_page_work(tmp_path):
    write_files(PAGE, tmp_path)
    run_commands(PAGE, tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")
def test_the_door_of_the_page_is_pushed_open(tmp_path):
    write_files(PAGE, tmp_path)
    keys = {"engine.name": "mujoco"}
    worlds = Worlds.of(tmp_path / "door.yaml", 4, settings=keys, sensors="none")
    while not worlds.is_done.all():
        worlds.advance()
    turns = 2.0 * np.rad2deg(np.arcsin(np.abs(worlds.object_states[:, 0, 5])))
    assert turns.min() > 20.0 and np.ptp(turns) > 1.0
