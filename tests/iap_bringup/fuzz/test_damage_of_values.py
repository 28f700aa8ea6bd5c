# SPDX-License-Identifier: BSD-3-Clause
"""Damage to what tables, bags, XML and files of MATLAB say leaves them readable."""

import shutil
from collections import Counter
from random import Random
from xml.etree import ElementTree

import numpy as np
import pytest
from rosbags.highlevel import AnyReader
from scipy.io import loadmat, savemat

from iap_bringup.cli.main import main
from iap_bringup.fuzz import file_damage, made_models, made_recordings
from iap_bringup.fuzz.bag_damage import damage_bag
from iap_bringup.fuzz.damage import VALUES, damaged_tree, other_value
from iap_bringup.fuzz.table_damage import damaged_table, damaged_xml
from iap_description.vehicles.platform import load_platform

SEEDS = range(200)
TABLE = "# t x\nt,x,y\n" + "".join(f"{k},{0.5 * k!r},1.0\n" for k in range(60))


def _is_whole(rows):
    """True if only the numbers of the second column may be other ones."""
    return len(rows) == 60 and all(
        len(row) == 3
        and row[::2] == [str(k), "1.0"]
        and row[1].lstrip("-").replace(".", "", 1).isdigit()
        for k, row in enumerate(rows)
    )


def test_tables_keep_their_heads_and_their_rows_change_in_value_number_order_and_width():
    found = [damaged_table(TABLE, Random(seed)) for seed in SEEDS]
    assert found == [damaged_table(TABLE, Random(seed)) for seed in SEEDS]
    texts = [each.decode(errors="replace") for each in found]
    assert all(each.startswith("# t x\nt,x,y\n") for each in texts)
    assert sum(each != TABLE for each in texts) > 0.9 * len(texts)
    rows = [[line.split(",") for line in each.splitlines()[2:]] for each in texts]
    counts = {len(each) for each in rows}
    assert min(counts) < 30 and max(counts) > 60
    assert {2, 3, 4} <= {len(row) for each in rows for row in each}
    stamps = [[row[0] for row in each] for each in rows]
    sound = [str(k) for k in range(60)]
    assert any(each == sound[::-1] for each in stamps)
    halves = [[float(row[1]) for row in each] for each in rows if _is_whole(each)]
    assert any(each[2] != 1.0 and each[2] == 2.0 * each[1] for each in halves)  # other units
    assert any("nan" in each for each in texts)
    spaces = TABLE.replace(",", " ")
    assert any(b" nan" in damaged_table(spaces, Random(seed)) for seed in SEEDS)
    assert damaged_table("words\nalone\n", Random(1)) == b"words\nalone\n"


@pytest.fixture(scope="module")
def bags(tmp_path_factory):
    home = tmp_path_factory.mktemp("bags")
    made_recordings.write_pose_bags(home)
    return home


def messages(bag):
    with AnyReader([bag]) as reader:
        return [
            (t, reader.deserialize(raw, connection.msgtype))
            for connection, t, raw in reader.messages()
        ]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "file"), [("poses.bag", ""), ("poses_db3", "poses_db3.db3")])
def test_bags_stay_readable_with_other_values_times_and_numbers_of_messages(
    name, file, bags, tmp_path
):
    sound, seen = messages(bags / name), Counter()
    for seed in range(60):
        copy = tmp_path / name
        if copy.is_dir():
            shutil.rmtree(copy)
        shutil.copytree(bags / name, copy) if file else shutil.copy(bags / name, copy)
        if not damage_bag(copy / file if file else copy, Random(seed)):
            seen["refused"] += 1
            continue
        found = messages(copy)
        seen["count"] += len(found) != len(sound)
        seen["times"] += {t for t, _ in found} - {t for t, _ in sound} != set()
        seen["values"] += any("nan" in repr(each) or "inf" in repr(each) for _, each in found)
        seen["same"] += repr(found) == repr(sound)
    assert seen["refused"] < 15 and seen["same"] < 15
    assert min(seen["count"], seen["times"], seen["values"]) > 2, seen
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_bytes_that_are_no_bag_are_left_as_they_are(tmp_path):
    (tmp_path / "x.bag").write_bytes(b"nothing")
    assert not damage_bag(tmp_path / "x.bag", Random(1))
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [b"nothing"]


@pytest.mark.parametrize("suffix", ["urdf", "sdf", "xml"])
def test_vehicles_are_of_one_mass_and_their_damage_is_xml(suffix, tmp_path, capsys):
    made_models.write_vehicles(tmp_path)
    file, out = tmp_path / f"vehicle.{suffix}", tmp_path / "quad.yaml"
    assert main(["import", str(file), "--out", str(out)]) == 0
    capsys.readouterr()
    platform = load_platform(str(out))
    assert platform.aircraft.mass == pytest.approx(1.4) and len(platform.aircraft.rotors) == 4
    text = file.read_text()
    found = [damaged_xml(text, Random(seed)) for seed in SEEDS]
    assert found == [damaged_xml(text, Random(seed)) for seed in SEEDS]
    sizes = {len(list(ElementTree.fromstring(each).iter())) for each in found if b"\0" not in each}
    assert len(sizes) > 3
    assert len(set(found)) > 150


def test_variables_of_matlab_are_changed_one_by_one(tmp_path, monkeypatch):
    monkeypatch.setattr(file_damage, "STRANGE", 0.0)
    monkeypatch.setattr(file_damage, "BOMBS", 0.0)
    monkeypatch.setattr(file_damage, "READABLE", 1.0)
    sound, changes = {"t": np.arange(9.0)[None], "v": np.ones((1, 9))}, Counter()
    for seed in range(60):
        path = tmp_path / "log.mat"
        savemat(path, sound)
        before = path.read_bytes()[128:]
        file_damage.damage(path, Random(seed))
        if path.read_bytes()[128:] == before:
            continue
        try:
            found = {k: v for k, v in loadmat(path).items() if not k.startswith("__")}
        except Exception:  # noqa: BLE001, S112 - bytes were damaged where MATLAB has no such type
            continue
        same = [k for k in sound if repr(found.get(k)) == repr(sound[k])]
        changes[len(same)] += 1
    assert changes[1] > 40 and changes[0] < 5


def test_damage_leaves_the_values_that_it_puts_into_trees_as_they_are():
    """A list among them had grown from case to case until it held itself."""
    before = repr(VALUES)
    for seed in range(300):
        rng, tree = Random(seed), {"a": [], "b": {"c": None}}
        for _ in range(10):
            tree = damaged_tree(tree, rng)
            other_value(None, rng)
    assert repr(VALUES) == before
