# SPDX-License-Identifier: BSD-3-Clause
"""The commands of docs/how_to/perch.md, and that its platform hangs on the wall in each of its seeds."""

import pytest
from pages import DOCS, run_commands, write_files

from iap_physics.engines.make import is_installed
from iap_physics.latching.batch_latches import BatchLatches
from iap_physics.latching.kernel import LOCKED
from iap_simulation.batch.worlds import Worlds

PAGE = (DOCS / "how_to" / "perch.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_commands_of_the_page_work(tmp_path):
    write_files(PAGE, tmp_path)
    run_commands(PAGE, tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")
def test_the_platform_of_the_page_hangs_on_the_wall(tmp_path):
    write_files(PAGE, tmp_path)
    keys = {"engine.name": "mujoco"}
    worlds = Worlds.of(tmp_path / "perch.yaml", 4, settings=keys, sensors="none")
    while not worlds.is_done.all():
        worlds.advance()
    latches = worlds.plant.part(BatchLatches)
    assert (latches.phase_numbers == LOCKED).all() and not worlds.status.any()
