# SPDX-License-Identifier: BSD-3-Clause
"""Every way in which a command may end badly is a fault, and sound ones are none; sound input is what it is named."""

import json

import numpy as np
import pytest

from iap_bringup.cli.main import main
from iap_bringup.fuzz import made_logs, made_recordings, made_texts
from iap_bringup.fuzz.made_bags import ROS1, MadeBags
from iap_bringup.fuzz.trials import CPU_SECONDS, Ending, _end_of, fault_of
from iap_io.trajectories.reader import read_recorded

SOUND = Ending(0, '{"a": 1}\n', "", 1.0, timed_out=False)
NEWS = "iap: compiling to machine code, once\niap: compiled 3 kernels in 2 s, kept in cache\n"
REFUSED = Ending(2, "", "iap: file: no\n", 1.0, timed_out=False)


@pytest.mark.parametrize(
    ("ending", "arguments", "fault"),
    [
        (SOUND, ["--json"], None),
        (SOUND, [], None),
        (SOUND._replace(code=1, err="iap: crashed\n"), ["--json"], None),
        (SOUND._replace(timed_out=True, seconds=61.4), [], "hang: 61 s"),
        (SOUND._replace(code=3, err="odd"), [], "exit code 3: odd"),
        (SOUND._replace(code=-9), [], "exit code -9"),
        (
            SOUND._replace(code=1, err="iap: this needs more memory than there is\n"),
            [],
            "memory: more than 2048 MiB",
        ),
        (SOUND._replace(err="ValueError: x"), [], "foreign words: ValueError"),
        (SOUND._replace(err="a DeprecationWarning here"), [], "foreign words"),
        (SOUND._replace(err="Traceback (most"), [], "foreign words"),
        (REFUSED._replace(err="iap: x cannot be imported: ImportError: y\n"), [], None),
        (REFUSED._replace(err="libpng error: bad\niap: file: no\n"), [], None),
        (REFUSED._replace(err=f"{NEWS}iap: file: no\n"), [], None),
        (REFUSED._replace(err=f"{NEWS}iap: file: no\niap: and more\n"), [], "not one line"),
        (SOUND._replace(out="no json"), ["--json"], "no json: 'no json'"),
        (SOUND._replace(out='{"a": NaN}\n'), ["--json"], "no json"),
        (SOUND._replace(out="[1]\n"), ["--json"], "no json"),
        (SOUND._replace(out='{"a": 1}\n\n'), ["--json"], "no json"),
        (SOUND._replace(out="words"), [], None),
        (REFUSED, [], None),
        (REFUSED._replace(out='{"error": "no"}\n'), ["--json"], None),
        (REFUSED, ["--json"], "no json"),
        (REFUSED, ["--", "--json"], None),
        (REFUSED._replace(out="begun\n"), [], "words before a refusal: begun"),
        (REFUSED._replace(err="usage: iap\n  more\n"), [], None),
        (REFUSED._replace(err="file: no\n"), [], "not one line"),
        (REFUSED._replace(err="iap: a\niap: b\n"), [], "not one line"),
        (REFUSED._replace(code=130, err="iap: interrupted\n", interrupt=2), [], None),
        (REFUSED._replace(code=143, err="iap: interrupted\n", interrupt=2), [], "exit code 143"),
        (REFUSED._replace(code=130, err="iap: a\niap: b\n", interrupt=2), [], "not one line"),
        (REFUSED._replace(code=130, err="iap: interrupted\n"), [], "exit code 130"),
    ],
)
def test_an_ending_is_a_fault_or_none(ending, arguments, fault):
    found = fault_of(arguments, ending, None)
    assert found is None if fault is None else found.startswith(fault)
    assert CPU_SECONDS == 60


def test_folders_that_are_left_are_faults_by_how_a_command_ended(tmp_path):
    out = tmp_path / "o"
    assert fault_of([], SOUND, out) == "no folder"
    assert fault_of([], SOUND._replace(code=1, err="iap: x\n"), out) is None
    assert fault_of([], REFUSED, out) is None
    stopped = REFUSED._replace(code=143, err="iap: terminated\n", interrupt=15)
    assert fault_of([], stopped, out) is None
    (out / "bag").mkdir(parents=True)
    (out / "bag" / "x.mcap").touch()
    assert fault_of([], SOUND, out) is None and fault_of([], stopped, out) is None
    assert fault_of([], REFUSED, out) == "folder left: bag, bag/x.mcap"
    (out / "a.json.part").touch()
    assert fault_of([], stopped, out) == "folder left: a.json.part"
    (out / "summary.json").touch()
    assert fault_of([], stopped, out) == "folder that looks complete: summary.json"
    done = stopped._replace(err="iap: terminated, and yet done\n")
    assert fault_of([], done, out) == "folder left: a.json.part"
    (out / "checkpoint.npz").touch()
    assert fault_of([], REFUSED, out) is None


@pytest.mark.parametrize("name", ["flight.bin", "flight.ulg", "flight_usd"])
def test_made_logs_are_of_a_climb_in_circles(name, tmp_path, capsys):
    made_logs.write_all(tmp_path)
    path = read_recorded(tmp_path / name, follows=False)
    steps = np.diff(path.p_WP_W, axis=0)
    assert np.linalg.norm(steps[:, :2], axis=1).sum() == pytest.approx(path.duration, rel=0.02)
    assert steps[:, 2].sum() == pytest.approx(0.1 * path.duration, abs=0.02)
    turns = np.diff(np.unwrap(np.arctan2(steps[:, 1], steps[:, 0]))).sum()
    assert abs(turns) == pytest.approx(path.duration, rel=0.05)
    assert 2.5 < path.duration < 6.1  # all of it, or what is in the air
    assert main(["inspect", str(tmp_path / name), "--json"]) == 0
    assert isinstance(json.loads(capsys.readouterr().out), dict)


def test_a_made_blackbox_has_rates_and_a_unit_at_rest(tmp_path, capsys):
    made_logs.write_all(tmp_path)
    assert main(["inspect", str(tmp_path / "flight_blackbox.csv"), "--json"]) == 0
    assert len((tmp_path / "flight_blackbox.csv").read_text().splitlines()) == 503
    assert "gyro" in json.dumps(json.loads(capsys.readouterr().out)).lower()
    assert main(["inspect", str(tmp_path / "flight.bbl"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 500


def test_made_bags_hold_a_line_of_half_a_metre_a_second(tmp_path):
    made_recordings.write_pose_bags(tmp_path)
    made_recordings.write_wrench_bag(tmp_path)
    for name, keys in (
        ("poses.bag", {}),
        ("poses_db3", {}),
        ("wrenches_db3", {"topic": "/truth"}),
    ):
        path = read_recorded(tmp_path / name, follows=False, **keys)
        assert path.duration == pytest.approx(0.49, abs=0.02)
        way = path.p_WP_W[-1] - path.p_WP_W[0]
        assert way == pytest.approx([0.245, 0.0, 0.0], abs=0.02)
        assert path.p_WP_W[:, 2] == pytest.approx(1.0, abs=1e-6)


def test_made_ranges_are_distances_to_the_anchors_of_the_map(tmp_path):
    samples = list(made_recordings._walk(MadeBags(tmp_path, ROS1)))
    anchors = {each["id"]: np.array(each["position"]) for each in made_texts.RANGE_MAP["anchors"]}
    places = {s.t: s.message.pose.position for s in samples if s.topic == "/truth"}
    ranged = [s for s in samples if s.topic == "/uwb"]
    assert len(ranged) == 300 and {s.message.header.frame_id for s in ranged} == set(anchors)
    for each in ranged:
        place = places[each.t]
        away = np.linalg.norm([place.x, place.y, place.z] - anchors[each.message.header.frame_id])
        assert each.message.range == pytest.approx(away)
    t = np.array([each - made_recordings.START for each in places]) / 1e9
    x = np.array([place.x for place in places.values()])
    f = np.array([s.message.linear_acceleration.x for s in samples if s.topic == "/imu"])
    assert t[-1] == pytest.approx(2.99)
    moving = (t > 1.1) & (t < 2.9)
    curved = np.gradient(np.gradient(x, t), t)
    np.testing.assert_allclose(curved[moving], f[moving], atol=0.1)
    assert not x[t <= 1.0].any()


def test_a_made_pair_of_cameras_stands_still_before_a_wall(tmp_path):
    from PIL import Image

    made_recordings.write_damageable_euroc(tmp_path)
    place = tmp_path / "euroc" / "mav0"
    images = [
        np.array(Image.open(next((place / f"cam{k}" / "data").glob("*.png")))) for k in (0, 1)
    ]
    assert images[0].shape == (240, 320)
    np.testing.assert_array_equal(images[0][1:, 8:], images[1][1:, :-8])  # 160 px x 0.1 m / 2 m
    assert len(list((place / "cam0" / "data").glob("*.png"))) == 11
    rows = np.loadtxt(place / "imu0" / "data.csv", delimiter=",", skiprows=1)
    assert len(rows) == 102 and rows[:, 6].mean() == pytest.approx(9.81, abs=0.01)
    assert rows[:, 1:6].std() == pytest.approx(6e-3, rel=0.2)
    assert np.diff(rows[:, 0]) == pytest.approx(5e6, abs=300)


def test_made_logs_of_velocities_answer_their_commands_at_their_rates(tmp_path):
    t, commands, v = made_texts._log(3)
    assert t[1] == 0.05 and v.shape == commands.shape == (7, 150)
    rates = made_texts.RATES[:, None]
    np.testing.assert_allclose(np.diff(v, axis=1) / 0.05, (rates * (commands - v))[:, :-1])
    assert (np.abs(commands) <= 0.9).all() and np.abs(commands).max() > 0.4
    made_texts._write_tables(tmp_path)
    path = read_recorded(tmp_path / "truth.csv", follows=False)
    tum = read_recorded(tmp_path / "truth.tum", follows=False)
    assert path.duration == pytest.approx(
        tum.duration, abs=1e-6
    ) and path.duration == pytest.approx(0.295, abs=0.01)
    for each in (path, tum):
        steps = np.linalg.norm(np.diff(each.p_WP_W, axis=0), axis=1)
        assert steps == pytest.approx(np.full(len(steps), steps[0]), abs=1e-6)
        assert steps.sum() == pytest.approx(0.59, abs=0.02)


def test_of_a_long_text_its_last_three_hundred_characters_are_shown():
    assert _end_of("a" * 50 + "b" * 299 + "c\n\n") == "b" * 299 + "c"
    assert _end_of(" short \n") == "short"
