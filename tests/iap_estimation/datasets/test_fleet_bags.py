# SPDX-License-Identifier: BSD-3-Clause
"""Several aircraft of one bag, whose topics a mapping names: each is localised, alone and joined to one body."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import yaml
from checkouts import ROOT
from range_bag import write_bag
from refusals import refusal

from iap_bringup.cli.main import main
from iap_description.config.record import validate
from iap_estimation.datasets import fleet_bag_source
from iap_estimation.datasets.fleet_bag_source import FleetMap
from iap_estimation.datasets.opening import Choices, open_dataset
from iap_estimation.navigation.measurements import Tally
from iap_estimation.virpo.messages import CENTRE
from iap_io.runs.run_folder import load_run
from iap_io.runs.topics import META
from iap_simulation.runs.run import record

NAMES = ("drone_1", "drone_2", "drone_3")
SECONDS = 2.0


def topics(name, **more):
    return {
        "imu": f"/iap/{name}/imu",
        "left": f"/iap/{name}/left/image_raw",
        "truth": {"topic": f"/iap/{name}/odom"},
        **more,
    }


def write_map(folder, **keys):
    tree = {"aircraft": {name: topics(name) for name in NAMES}, **keys}
    file = folder / "fleet.yaml"
    file.write_text(yaml.safe_dump(tree))
    return file


@pytest.fixture(scope="module")
def flown(opengl, tmp_path_factory):  # skips where there is no EGL
    """A run, and its bag without what says that it is this suite's."""
    folder = tmp_path_factory.mktemp("fleet")
    options = {"platform": "three_star", "sensors": "stereo", "scene": "textured_walls"}
    record("figure_eight", folder=folder / "run", duration=SECONDS, **options)
    bag = folder / "foreign"
    shutil.copytree(folder / "run" / "bag", bag)
    lines = (bag / "metadata.yaml").read_text().splitlines()
    kept = [line for line in lines if META not in line and "custom_data" not in line]
    (bag / "metadata.yaml").write_text("\n".join(kept) + "\n")
    return folder / "run", bag


@pytest.fixture(scope="module")
def joints(flown):
    """Places of the joints on the central body [m]."""
    places = [each.p_PJ_P for each in load_run(flown[0]).vehicles[0].meta.joints]
    return {name: [float(x) for x in p] for name, p in zip(NAMES, places, strict=True)}


@pytest.mark.slow
def test_aircraft_that_a_mapping_joins_are_localised_as_those_of_a_run(flown, joints, tmp_path):
    centre = {
        "imu": "/iap/imu",
        "joints": joints,
        "tilt_deg": 0.5,
        "truth": {"topic": "/iap/odom"},
    }
    file = write_map(tmp_path, center=centre)
    words = ["localize", str(flown[1]), "--map", str(file), "--method", "vio,joint", "--no-plot"]
    assert main([*words, "--out", str(tmp_path / "out")]) == 0
    metrics = json.loads((tmp_path / "out" / "metrics.json").read_text())
    for body in (*NAMES, "center"):
        for method in ("vio", "joint"):
            assert metrics["estimation"][body][method]["ate_rmse_m"] < 0.02, (body, method)
    assert set(metrics["understood"]["aircraft"]) == set(NAMES)


@pytest.mark.slow
def test_events_of_all_come_in_order_of_time_and_truths_have_one_clock(flown, joints, tmp_path):
    """The first aircraft's bag begins with the flight, the second's inertial unit is heard of later."""
    centre = {"imu": "/iap/imu", "joints": joints}
    dataset = open_dataset(flown[1], Choices(mapping=write_map(tmp_path, center=centre)))
    times, numbers = [], set()
    for who, measured in dataset.events():
        times.append(measured.t)
        numbers.add(who)
    assert numbers == {0, 1, 2, CENTRE}
    assert (np.diff(times) >= 0.0).all() and times[-1] == pytest.approx(SECONDS, abs=0.1)
    run = load_run(flown[0]).vehicles[0].columns
    for number, one in enumerate(dataset.aircraft):
        k = np.argmin(np.abs(one.truth.t + 1e-9 * dataset.start_ns - 1.0))
        at = np.argmin(np.abs(run.t - 1.0))
        np.testing.assert_allclose(one.truth.poses[k, :3], run.x[at, number + 1, :3], atol=0.005)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"aircraft": {"drone_1": topics("drone_1")}}, "key 'aircraft'.*at least 2"),
        ({"aircraft": {n: topics(n) for n in ("a", "center")}}, "'center' is the name of"),
        (
            {"center": {"imu": "/iap/imu", "joints": {"drone_1": [0.0, 0.0, 0.0]}}},
            "key 'center.joints'.*drone_1, drone_2, drone_3 are expected, got drone_1",
        ),
        ({"ranges": {}}, "unknown key 'ranges'"),
        ({}, "key 'aircraft.drone_1'.*no topic /iap/drone_1/left/image_raw of type"),
    ],
)
def test_a_mapping_that_does_not_fit_is_refused_by_its_key(keys, words, tmp_path):
    bag, file = write_bag(tmp_path, 1.0), write_map(tmp_path, **keys)
    text = refusal(open_dataset, bag, Choices(mapping=file))
    assert re.search(words, text) and "\n" not in text


def test_the_pages_mapping_is_one():
    """And the example of the module is that of the page."""
    page = (ROOT / "docs" / "how_to" / "datasets.md").read_text(encoding="utf-8")
    blocks = [yaml.safe_load(each) for each in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)]
    (tree,) = [each for each in blocks if "aircraft" in each]
    example = fleet_bag_source.__doc__.partition(".. code-block:: yaml")[2]
    assert tree == yaml.safe_load(example)
    assert list(validate(FleetMap, tree, source="page").aircraft) == ["one", "two"]


def test_a_mapping_says_all_and_leaves_no_choice_of_topics(tmp_path):
    bag, file = write_bag(tmp_path, 1.0), write_map(tmp_path)
    choices = Choices(mapping=file, calibration=(Path("left.yaml"),))
    assert "--map says it all" in refusal(open_dataset, bag, choices)


def test_what_was_odd_of_all_parts_is_counted_together():
    whole = Tally(unpaired=1, gaps=["a"], unlisted={"7": 2})
    whole.add(Tally(unpaired=2, late=1, gaps=["b"], unlisted={"7": 1, "8": 4}))
    assert (whole.unpaired, whole.late, whole.gaps) == (3, 1, ["a", "b"])
    assert whole.unlisted == {"7": 3, "8": 4}
