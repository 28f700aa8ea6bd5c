# SPDX-License-Identifier: BSD-3-Clause
"""A real flight flown in the simulator: followed, within the thrust, and the same from every form of its recording."""

from pathlib import Path

import numpy as np
import pytest
from test_replay_real_flights import FLIGHTS, write_in_ned

from iap_io.runs.run_folder import load_run
from iap_simulation.flights.flight import Flight
from iap_simulation.runs.run import Result, execute
from iap_simulation.scenario.resolving import Options, resolve_tree

pytestmark = pytest.mark.slow

LIMITS = {"v1_01_easy": 0.02, "v1_02_medium": 0.045}  # position RMSE [m]


def fly(recording: Path, folder: Path, convention: str | None, options: Options) -> Result:
    """Replay a recording into a new folder."""
    reference = {"type": "replay", "path": str(recording), "convention": convention}
    tree = {"reference": {**reference, "topic": None, "actual_topic": None}}
    scenario, tree = resolve_tree("replay", tree, "replay", options)
    folder.mkdir()
    return execute(Flight.of(scenario), folder, tree)


@pytest.mark.parametrize("flight_name", FLIGHTS)
def test_all_forms_of_a_flight_are_flown_alike(
    real_flight: Path, tmp_path: Path, flight_name: str
) -> None:
    turned = tmp_path / f"{flight_name}.csv"
    write_in_ned(real_flight / f"{flight_name}.csv", turned)
    forms = {
        "csv": (real_flight / f"{flight_name}.csv", None, 25.0),
        "csv_ned": (turned, "ned", 8.0),
        "bag": (real_flight / f"{flight_name}_pose", None, 8.0),
        "bag_ned": (real_flight / f"{flight_name}_ned.bag", None, 8.0),
    }
    paths = {}
    for name, (recording, convention, duration) in forms.items():
        result = fly(recording, tmp_path / name, convention, Options(duration=duration))
        assert result.metrics["outcome"] == "completed"
        assert result.metrics["position_rmse_m"] <= LIMITS[flight_name]
        paths[name] = load_run(tmp_path / name).vehicles[0].columns.x[:, 0, :3]
    for path in paths.values():
        off = path[: len(paths["bag"])] - paths["bag"]
        assert np.linalg.norm(off, axis=1).max() < 0.005


@pytest.mark.parametrize("platform", ["f450", "three_star_fixed"])
def test_rigid_platforms_follow_the_easy_flight(
    real_flight: Path, tmp_path: Path, platform: str
) -> None:
    options = Options(duration=25.0, platform=platform)
    result = fly(real_flight / "v1_01_easy_pose", tmp_path / "run", None, options)
    assert result.metrics["outcome"] == "completed"
    assert result.metrics["position_rmse_m"] <= 0.05
