# SPDX-License-Identifier: BSD-3-Clause
"""Damage is of every kind, the same for the same seed, and leaves what it was made of as it was."""

import copy
import io
import json
import os
import stat
import zipfile
import zlib
from pathlib import Path
from random import Random

import numpy as np
import pytest
import yaml

from iap_bringup.fuzz import damage, file_damage
from iap_bringup.fuzz.damage import (
    FLOATS,
    VALUES,
    damaged_bytes,
    damaged_text,
    damaged_tree,
    detuned_tree,
    other_value,
    paths,
    yaml_bytes,
)  # fmt: skip
from iap_bringup.fuzz.file_damage import HUGE, STRANGE_FILES, array_bomb, read_tree
from iap_bringup.fuzz.file_damage import damage as damage_file

TREE = {
    "name": "hover",
    "rate": 200,
    "wind": {"speed": 1.5, "on": True},
    "at": [1.0, 2.0, 3.0],
    "list": [{"a": 1}],
}
SEEDS = range(300)


def of_all(change, *content):
    """Results of a change with many seeds."""
    return [change(*content, Random(seed)) for seed in SEEDS]


@pytest.mark.parametrize(
    ("change", "content"),
    [
        (damaged_bytes, bytes(range(200))),
        (damaged_text, yaml.safe_dump(TREE)),
        (damaged_tree, TREE),
        (detuned_tree, TREE),
    ],
)
def test_damage_is_the_same_for_a_seed_and_other_for_others_and_the_original_stays(
    change, content
):
    before = copy.deepcopy(content)
    once, again = of_all(change, content), of_all(change, content)
    assert [repr(each) for each in once] == [repr(each) for each in again]
    assert content == before
    assert len({repr(each) for each in once}) > 100
    sound = content.encode() if isinstance(content, str) else content
    assert sum(each != sound for each in once) > 270


def test_bytes_are_changed_one_by_one_in_blocks_and_in_length():
    data = bytes(range(1, 201))
    found = of_all(damaged_bytes, data)
    same = [each for each in found if len(each) == len(data)]
    assert any(sum(a != b for a, b in zip(each, data, strict=True)) == 1 for each in same)
    assert any(len(each) < len(data) // 2 for each in found) and any(
        len(each) > len(data) for each in found
    )
    assert any(bytes([0xFF]) * 8 in each or bytes(8) in each for each in found)
    assert of_all(damaged_bytes, b"") == [b""] * len(SEEDS)
    assert all(damaged_bytes(data, Random(seed), most=1) is not None for seed in SEEDS)


@pytest.mark.parametrize("change", sorted(set(damage._BYTES), key=lambda each: each.__name__))
def test_each_damage_to_bytes_is_what_its_name_says(change):
    data = bytes(range(1, 251))
    for seed in range(40):
        out, at = bytearray(data), 100
        change(out, at, Random(seed))
        assert out[:at] == data[:at]
        rest, name = bytes(out[at:]), change.__name__
        if name == "_flip":
            assert bin(rest[0] ^ data[at]).count("1") == 1 and rest[1:] == data[at + 1 :]
        elif name == "_replace":
            assert rest[1:] == data[at + 1 :]
        elif name == "_number":
            assert len(out) == len(data) and rest[8:] == data[at + 8 :]
        elif name == "_float":
            assert len(out) == len(data) and rest[8:] == data[at + 8 :]
            assert any(
                np.frombuffer(rest[:size], kind)[0] in FLOATS
                or np.isnan(np.frombuffer(rest[:size], kind)[0])
                for size, kind in ((4, "<f4"), (8, "<f8"))
            )
        elif name == "_run":
            same = next(
                k
                for k, each in enumerate(rest)
                if each not in {0, 0xFF, 0x20, 0x41} or each != rest[0]
            )
            assert 1 <= same <= 65 and len(set(rest[:same])) == 1
        elif name == "_cut_out":
            assert 1 <= len(data) - len(out) <= 200 and data.endswith(rest)
        elif name == "_repeat":
            size = len(out) - len(data)
            assert (
                1 <= size <= 150
                and rest[:size] == data[at : at + size]
                and rest[size:] == data[at:]
            )
        elif name == "_insert":
            assert 1 <= len(out) - len(data) <= 16 and rest.endswith(data[at:])
        else:
            assert name == "_truncate" and rest == b""


def test_texts_get_words_of_yaml_behind_marks_or_damaged_bytes():
    text = yaml.safe_dump(TREE)
    found = of_all(damaged_text, text)
    words = [word for word in damage.WORDS if 2 < len(word) < 20 and word.isprintable()]
    used = {word for word in words for each in found if word.encode() in each and word not in text}
    assert len(used) > 0.5 * len(words)
    assert all(isinstance(each, bytes) for each in found)
    longer = sum(len(each) > len(text) for each in found)
    assert 0.3 * len(found) < longer < 0.95 * len(found)


def test_trees_lose_keys_get_others_and_become_single_values():
    found = of_all(damaged_tree, TREE)
    trees = [each for each in found if isinstance(each, dict)]
    assert any(len(each) < len(TREE) for each in trees)
    assert any(set(each) - set(TREE) for each in trees) and any(
        isinstance(each.get("wind"), dict) and set(each["wind"]) - {"speed", "on"}
        for each in trees
    )
    assert any(isinstance(each.get("at"), list) and len(each["at"]) == 4 for each in trees)
    assert all(
        any(repr(each) == repr(value) for value in VALUES) for each in of_all(damaged_tree, 5)
    )


def test_detuned_trees_keep_their_keys_and_the_kinds_of_their_numbers():
    found = of_all(detuned_tree, TREE)
    for each in found:
        assert paths(each)[:4] == paths(TREE)[:4] or "list" in each
        assert set(each) == set(TREE) and isinstance(each["wind"], dict)
        assert isinstance(each["rate"], int) and isinstance(each["wind"]["speed"], float)
        assert isinstance(each["wind"]["on"], bool) and isinstance(each["name"], str)
        assert isinstance(each["at"], list)
    for key in ("name", "rate", "at"):
        assert any(each[key] != TREE[key] for each in found)
    assert any(not each["wind"]["on"] for each in found)
    assert any(each["at"] != TREE["at"] and len(each["at"]) == 3 for each in found)
    assert detuned_tree({}, Random(1)) == {}
    assert sum(sum(each[key] != TREE[key] for key in TREE) > 2 for each in found) == 0


def test_another_value_is_of_the_same_kind():
    assert other_value(True, Random(1)) is False and other_value(False, Random(1)) is True
    ints, floats = ({other_value(each, Random(seed)) for seed in SEEDS} for each in (7, 2.0))
    assert {-7, 0, 1, 8, 70, 10**6, 10**9, 2**31, 2**63, 2**64} == ints
    assert {-2.0, 0.0, 1.0, 2.02, 6.0, 3.0, -1.0, 0.5, 1.01, 1e15, -1e15, 1e-30} <= floats and any(
        abs(each) > 1e9 for each in floats
    )
    assert all(isinstance(each, float) for each in floats)
    lists = {str(other_value([1, 2, 3], Random(seed))) for seed in SEEDS}
    assert {str([1, 2]), str([1, 2, 3, 3]), str([3, 2, 1]), "[]", str([1, 2, 3] * 1000)} == lists
    texts = {other_value("a", Random(seed), ("own",)) for seed in SEEDS}
    assert "own" in texts and all(isinstance(each, str) for each in texts)


@pytest.fixture
def place(tmp_path):
    """Writes a sound file of each suffix."""

    def write(name):
        path = tmp_path / name
        if path.suffix == ".npz":
            np.savez(
                path, header=np.array(json.dumps(TREE)), mean=np.arange(6.0), t=np.ones((2, 3))
            )
        elif path.suffix == ".json":
            path.write_text(json.dumps(TREE))
        elif path.suffix == ".mat":
            path.write_bytes(bytes(range(200)))
        else:
            path.write_bytes(yaml_bytes(TREE))
        return path

    return write


@pytest.mark.parametrize("name", ["a.yaml", "a.json", "a.csv", "a.npz", "a.bin"])
def test_a_file_is_damaged_by_what_it_is_alike_for_a_seed(name, place, monkeypatch):
    monkeypatch.setattr(file_damage, "STRANGE", 0.0)
    monkeypatch.setattr(file_damage, "BOMBS", 0.0)
    sound, found = place(name).read_bytes(), []
    for seed in range(60):
        for _ in range(1 if name.endswith("npz") else 2):
            path = place(name)
            damage_file(path, Random(seed))
            found.append(path.read_bytes())
    if not name.endswith("npz"):  # whose members have times
        assert found[::2] == found[1::2]
    assert sum(each != sound for each in found) > 0.8 * len(found)
    if name in ("a.yaml", "a.json"):
        read = json.loads if name.endswith("json") else yaml.safe_load
        trees = 0
        for each in found:
            try:
                trees += isinstance(read(each.decode()), dict)
            except (ValueError, yaml.YAMLError):
                continue
        assert 0.5 * len(found) < trees < len(found)


def test_arrays_are_damaged_one_by_one_packed_in_every_way_and_sometimes_left_out(
    place, monkeypatch
):
    monkeypatch.setattr(file_damage, "STRANGE", 0.0)
    monkeypatch.setattr(file_damage, "BOMBS", 0.0)
    seen, methods, changed = set(), set(), 0
    for seed in range(100):
        path = place("a.npz")
        sound = dict(np.load(path))
        damage_file(path, Random(seed))
        try:
            with zipfile.ZipFile(path) as archive:
                methods |= {each.compress_type for each in archive.infolist()}
            found = dict(np.load(path, allow_pickle=False))
        except Exception:  # noqa: BLE001, S112 - damaged indeed
            continue
        if not isinstance(found, dict):
            continue
        seen.add(tuple(sorted(found)))
        different = [k for k in found if repr(found[k]) != repr(sound.get(k))]
        changed += len(different) == 1
    assert ("header", "mean", "t") in seen and any(len(each) == 2 for each in seen)
    assert len(methods) >= 3 and changed > 25


def test_what_is_no_file_stands_in_its_place(place):
    kinds = []
    for k, make in enumerate(STRANGE_FILES):
        path = place(f"strange_{k}.yaml")
        make(path)
        if path.is_symlink():
            kinds.append(os.readlink(path))
        elif not path.exists():
            kinds.append("none")
        else:
            mode = path.stat().st_mode
            size = path.stat().st_size if stat.S_ISREG(mode) else None
            kinds.append(
                "pipe" if stat.S_ISFIFO(mode) else "folder" if stat.S_ISDIR(mode) else size
            )
    assert kinds == ["pipe", "folder", 0, "strange_3.yaml", "/dev/zero", "..", "none", HUGE]


def test_a_share_of_files_becomes_no_file_and_of_archives_a_bomb(place, monkeypatch):
    struck = []
    monkeypatch.setattr(file_damage, "STRANGE_FILES", (lambda file: struck.append("strange"),))
    monkeypatch.setattr(file_damage, "array_bomb", lambda name: struck.append(name) or b"bomb")
    monkeypatch.setattr(
        file_damage, "_matlab_bomb", lambda data: struck.append("matlab") or b"bomb"
    )
    for seed in range(200):
        damage_file(place("a.npz"), Random(seed))
        damage_file(place("a.mat"), Random(seed))
    assert 10 < struck.count("strange") < 45
    assert 1 < struck.count("matlab") < 16
    assert 1 < sum(each in ("header", "mean", "weights_0", "t") for each in struck) < 16


def test_bombs_are_small_and_come_to_more_than_memory_has(monkeypatch):
    monkeypatch.setattr(file_damage, "HUGE", 1 << 26)
    packed = file_damage._zeros(zlib.MAX_WBITS)
    unpacked = zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed[2:], 1 << 26)
    assert len(packed) < 1 << 17 and unpacked == bytes(1 << 26)
    data = bytes(range(200))
    bomb = file_damage._matlab_bomb(data)
    assert bomb[:128] == data[:128] and int.from_bytes(bomb[128:132], "little") == 15
    assert int.from_bytes(bomb[132:136], "little") == len(bomb) - 136
    with zipfile.ZipFile(io.BytesIO(array_bomb("t"))) as archive:
        (member,) = archive.infolist()
        assert member.filename == "t.npy" and member.file_size == 1 << 26
        with archive.open(member) as unpacked:
            assert unpacked.read(1 << 20) == bytes(1 << 20)


def test_trees_of_files_are_read_by_their_suffix(place):
    assert read_tree(place("a.yaml")) == read_tree(place("a.json")) == TREE
    assert Path(place("a.yaml")).read_bytes() == yaml_bytes(TREE)
