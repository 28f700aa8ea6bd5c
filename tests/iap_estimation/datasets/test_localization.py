# SPDX-License-Identifier: BSD-3-Clause
"""Data sets are localised, also as a batch."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from checkouts import ROOT
from resting_pair import PairBag
from tum_files import read_tum

from iap_bringup.cli import main
from iap_bringup.fuzz.made_recordings import BASELINE, DISTANCE, resting, write_euroc
from iap_bringup.launching.node_parameters import localization_nodes
from iap_description.config.plain_yaml import read_yaml
from iap_description.errors import BadInput
from iap_estimation.datasets.dataset import SensorDataset
from iap_estimation.datasets.localization import _Course, localize, tracked
from iap_estimation.datasets.method_results import LocalizationResults
from iap_estimation.datasets.opening import open_dataset
from iap_estimation.datasets.results import evaluate, write_results
from iap_estimation.navigation.aircraft_frontend import FrontendStats
from iap_estimation.navigation.settings import load_settings
from iap_estimation.virpo.messages import Estimate, LeftOut, Tracks
from iap_estimation.virpo.window.failure_checks import Fault
from iap_estimation.virpo.window.window import EstimateLost


@dataclass
class Standing:
    """In place of a localizer: the first state, some noise on it, and what is asked to go wrong."""

    first: object
    noise: float = 0.0
    lost_at: float = np.inf
    wild_at: float = np.inf
    faults: Sequence[Fault] = ()
    left_out: Sequence[LeftOut] = ()
    seen: list[Tracks] = field(default_factory=list)

    def imu(self, aircraft, sample):
        return False

    def ranges(self, aircraft, told):
        raise AssertionError("nobody ranges")

    tilt = ranges

    def tracks(self, aircraft, tracks):
        self.seen.append(tracks)
        if tracks.t >= self.lost_at:
            raise EstimateLost("the world has gone")
        return self.first(aircraft, tracks.t) is not None

    def estimates(self):
        t = self.seen[-1].t
        x = self.first(0, t)
        x[:3] += self.noise * np.sin([10.0 * t, 11.0 * t, 12.0 * t])
        x[0] = np.nan if t >= self.wild_at else x[0]
        return [Estimate(t, x[:3], x[3:7], x[7:10], x[10:13], x[13:16], 0.01 * np.eye(15))]

    def centre(self):
        return None


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return write_euroc(tmp_path_factory.mktemp("data") / "still", resting(2.0))


@pytest.fixture(scope="module")
def short(tmp_path_factory) -> Path:
    return write_euroc(tmp_path_factory.mktemp("data") / "still", resting(0.5))


@pytest.fixture(scope="module")
def dataset(folder: Path) -> SensorDataset:
    return open_dataset(folder)


@pytest.fixture(scope="module")
def seen(dataset: SensorDataset) -> list:
    return list(tracked(dataset, load_settings().frontend, FrontendStats()))


def _run(dataset: SensorDataset, seen: list, **how) -> LocalizationResults:
    """One run of `vio` by something that stands."""
    return localize(
        dataset,
        ["vio"],
        load_settings(),
        make=lambda name, fleet, spec, first, begins: Standing(first, **how),
        events=seen,
    )


@pytest.mark.slow
def test_tracks_of_a_wall_have_its_depth(seen: list) -> None:
    tracks = [said for _, said in seen if isinstance(said, Tracks)]
    assert len(tracks) == 41
    views = tracks[-1].views[tracks[-1].has_right]
    assert len(views) > 30
    disparity = views[:, 0] - views[:, 2]
    np.testing.assert_allclose(np.median(BASELINE / disparity), DISTANCE, rtol=0.01)
    assert len(np.intersect1d(tracks[0].ids, tracks[-1].ids)) > 30, "it does not move"


def test_noise_on_the_truth_is_the_error(dataset: SensorDataset, seen: list) -> None:
    told = evaluate(_run(dataset, seen, noise=0.1)).metrics["estimation"]["still"]["vio"]
    assert told["outcome"] == "completed"
    assert told["ate_rmse_m"] == pytest.approx(0.1 * np.sqrt(1.5), rel=0.1)
    assert told["nees_position"] == pytest.approx(0.5, rel=0.2)


def test_the_front_end_runs_once_for_several_methods(dataset: SensorDataset, monkeypatch) -> None:
    made: dict[str, Standing] = {}
    monkeypatch.setattr("iap_estimation.datasets.localization.RECORDED_METHODS", ("vio", "other"))

    def make(name, fleet, spec, first, begins):
        made[name] = Standing(first)
        return made[name]

    results = localize(dataset, ["vio", "other"], load_settings(), make=make)
    assert len(results.frontend.seconds) == 41
    assert all(a is b for a, b in zip(made["vio"].seen, made["other"].seen, strict=True))


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ({"lost_at": 1.0}, "failed: at 1.01 s: the world has gone"),
        ({"wild_at": 1.0}, "failed: at 1.01 s: the estimate of still is not a number"),
        ({"lost_at": 0.0}, "failed: at 0.01 s: the world has gone"),
    ],
)
def test_a_failure_is_no_number(
    dataset: SensorDataset, seen: list, how: dict, reason: str, tmp_path: Path
) -> None:
    evaluation = evaluate(_run(dataset, seen, **how))
    told = evaluation.metrics["estimation"]["still"]["vio"]
    assert told.pop("outcome") == evaluation.metrics["methods"]["vio"]["outcome"] == reason
    assert set(told.values()) == {None}
    write_results(tmp_path, evaluation)
    assert not list(tmp_path.glob("trajectory_*"))


def test_a_restart_is_stated(dataset: SensorDataset, seen: list) -> None:
    results = _run(dataset, seen, faults=(Fault(1.5, "a gap in the inertial samples"),))
    metrics = evaluate(results).metrics
    assert metrics["methods"]["vio"]["outcome"] == (
        "restarted once: at 1.50 s: a gap in the inertial samples"
    )
    assert metrics["estimation"]["still"]["vio"]["ate_rmse_m"] is not None


def test_restarts_over_and_over_are_no_localisation(dataset: SensorDataset, seen: list) -> None:
    wild = Fault(1.5, "still: accelerometer bias of 3.2")
    assert _run(dataset, seen, faults=(wild, wild)).methods["vio"].outcome.startswith("restarted")
    lost = _run(dataset, seen, faults=(wild, wild, wild)).methods["vio"]
    assert lost.is_lost and not lost.has_failed
    assert "lost: restarted 3 times" in lost.outcome
    gap = Fault(1.5, "a gap in the inertial samples")
    gaps = _run(dataset, seen, faults=(gap, gap, gap)).methods["vio"]
    assert not gaps.is_lost, "that is the recording's fault, and each is told"


def test_images_without_anything_to_follow_are_no_localisation(tmp_path: Path, capsys) -> None:
    pair = resting(1.0)
    pair.images = tuple(np.full_like(image, 3) for image in pair.images)
    folder, out = write_euroc(tmp_path / "dark", pair), tmp_path / "out"
    assert main.main(["localize", str(folder), "--no-plot", "--out", str(out)]) == 1
    told = capsys.readouterr()
    assert "100% of the images are black" in told.out
    assert "vio lost: 100% of the images show nothing that can be followed" in told.err


def test_no_estimate_is_a_failure(dataset: SensorDataset, seen: list) -> None:
    results = _run(dataset, [each for each in seen if not isinstance(each[1], Tracks)])
    assert results.methods["vio"].outcome == "failed: no estimate came"


@pytest.mark.slow
def test_an_aircraft_that_stands_is_found_standing(folder: Path, tmp_path: Path, capsys) -> None:
    out = tmp_path / "out"
    assert main.main(["localize", str(folder), "--out", str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == json.loads((out / "metrics.json").read_text())
    vio = told["estimation"]["still"]["vio"]
    assert vio["ate_max_m"] < 0.02
    assert {"drift_percent", "keyframe_ms", "real_time_factor"} <= set(vio)
    assert vio["keyframe_ms"] > 0.0
    t, poses = read_tum(out / "trajectory_still_vio.tum")
    assert np.abs(poses[:, :3] - [1.0, 2.0, 3.0]).max() < 0.02
    start, _ = read_tum(out / "truth_still.tum")
    assert start[0] - 1e-6 <= t[0] <= start[-1], "stamps are the data's own"
    drawn = {path.name for path in (out / "plots").iterdir()}
    assert drawn == {"errors.png", "paths.png", "quartiles.png"}


@pytest.mark.parametrize(("chosen", "side"), [((), 21), (("--frontend", "default"), 15)])
def test_images_of_cameras_have_a_front_end_of_their_own(
    short: Path, tmp_path: Path, chosen: tuple[str, ...], side: int
) -> None:
    out = tmp_path / "out"
    assert main.main(["localize", str(short), "--no-plot", "--out", str(out), *chosen]) == 0
    told = read_yaml(out / "config.yaml")
    assert told["frontend"]["window"] == side
    assert told["estimator"]["keyframes"] == load_settings().estimator.keyframes
    assert told["methods"] == ["vio"]


def test_a_front_end_that_there_is_none_of(folder: Path, tmp_path: Path, capsys) -> None:
    out = tmp_path / "out"
    assert main.main(["localize", str(folder), "--frontend", "sharp", "--out", str(out)]) == 2
    assert "no front end 'sharp': choose default, euroc" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.slow
def test_what_comes_after_the_last_image_is_left_out(tmp_path: Path, capsys) -> None:
    pair = resting(4.0)
    for stamps in pair.stamps:
        del stamps[30:]  # 1.5 s of images and 4 s of samples
    out = tmp_path / "out"
    folder = write_euroc(tmp_path / "still", pair)
    assert main.main(["localize", str(folder), "--no-plot", "--out", str(out)]) == 0
    assert "neither images nor ranges in the last 2.5" in capsys.readouterr().out
    t, poses = read_tum(out / "trajectory_still_vio.tum")
    assert 1.3 < t[-1] - t[0] < 2.6
    assert np.abs(poses[:, :3] - [1.0, 2.0, 3.0]).max() < 0.02


def test_a_bag_without_truth_gives_trajectories(tmp_path: Path, capsys) -> None:
    path = PairBag("mcap").write(tmp_path, resting(1.0))
    out = tmp_path / "out"
    assert main.main(["localize", str(path), "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "nothing says what is true" in said
    assert "of the inertial unit: not known, a small MEMS unit's is taken" in said
    _, poses = read_tum(out / "trajectory_aircraft_vio.tum")
    assert np.abs(poses[:, :3]).max() < 0.02
    assert not (out / "plots").exists()


def test_a_method_that_fails_is_exit_code_1(
    short: Path, tmp_path: Path, capsys, monkeypatch
) -> None:
    def lost(*_: object, **__: object) -> None:
        raise EstimateLost("nothing fits")

    monkeypatch.setattr("iap_estimation.virpo.window.estimator.Estimator.tracks", lost)
    arguments = ["localize", str(short), "--out", str(tmp_path / "out"), "--no-plot"]
    assert main.main(arguments) == 1
    assert "iap: vio failed: at 0.01 s: nothing fits" in capsys.readouterr().err


@pytest.mark.slow
def test_it_goes_out_as_any_other_method(folder, tmp_path, capsys):
    """At every keyframe of the window; it rests."""
    arguments = ["localize", str(folder), "--method", "vio,batch", "--out", str(tmp_path / "out")]
    assert main.main([*arguments, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    one = told["estimation"]["still"]
    assert told["methods"]["batch"]["outcome"] == one["batch"]["outcome"] == "completed"
    assert one["batch"]["ate_rmse_m"] < 1e-3, "half of what its first state may be off"
    assert 0.0 < one["batch"]["nees_position"] < 3.0
    (t, poses), (times, _) = (
        read_tum(tmp_path / "out" / f"trajectory_still_{method}.tum")
        for method in ("batch", "vio")
    )
    np.testing.assert_array_equal(t, times)
    assert np.isfinite(poses).all()
    assert json.loads((tmp_path / "out" / "metrics.json").read_text()) == told
    assert list((tmp_path / "out" / "plots").glob("*.png"))


def test_without_gtsam_one_line_says_how_to_get_it(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "gtsam", None)
    assert (
        main.main(["localize", str(folder), "--method", "batch", "--out", str(tmp_path / "x")])
        == 2
    )
    line = capsys.readouterr().err.strip()
    assert "\n" not in line
    assert "needs gtsam" in line
    assert (ROOT / line.split()[-1]).is_file()
    assert not (tmp_path / "x").exists()


@pytest.mark.slow
def test_nobody_else_imports_gtsam():
    code = "import iap_bringup.cli.localize, sys; sys.exit('gtsam' in sys.modules)"
    assert subprocess.run([sys.executable, "-P", "-c", code], check=False).returncode == 0


def test_nodes_refuse_it_too():
    with pytest.raises(BadInput, match="'batch' is for recordings alone.*joint, drift_filter"):
        localization_nodes(None, None, "batch")


def test_estimates_that_are_kept_are_newer_than_the_last_and_a_number():
    course = _Course(None, SimpleNamespace(aircraft=[]))
    still = (
        np.zeros(3),
        np.array([0.0, 0.0, 0.0, 1.0]),
        np.zeros(3),
        np.zeros(3),
        np.zeros(3),
        np.eye(15),
    )
    for t in (1.0, 1.0, 0.5, 1.5):
        course._keep("drone_1", Estimate(t, *still))
    course._keep("drone_2", Estimate(0.5, *still))
    assert {name: [each.t for each in kept] for name, kept in course.estimates.items()} == {
        "drone_1": [1.0, 1.5], "drone_2": [0.5],
    }  # fmt: skip
    assert course.failure is None
    course._keep("drone_1", Estimate(2.0, np.array([0.0, np.nan, 0.0]), *still[1:]))
    assert course.failure == "at 2.00 s: the estimate of drone_1 is not a number"
