# SPDX-License-Identifier: BSD-3-Clause
"""Files of strangers: what is no file, lies about its size or is packed oddly is refused before memory is asked for."""

import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
from refusals import refusal

from iap_description.config import array_files
from iap_description.config.array_files import read_arrays
from iap_description.config.bounds import MAX_TABLE, check_size
from iap_description.config.json_files import parse_json, read_json
from iap_description.config.presets import Presets
from iap_description.config.record import Record, validate
from iap_description.config.text_files import read_text, table_lines
from iap_description.config.values import Count, Positive, Real
from iap_description.errors import BadInput
from iap_description.vehicles.platform import platform_tree


def made(path, kind):
    """Things that stand where a file should be."""
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "circle of links":
            path.symlink_to(path.name)
        case "device":
            path.symlink_to("/dev/zero")
        case "huge":
            path.touch()
            os.truncate(path, 4 << 30)
    return path


@pytest.mark.parametrize("kind", ["pipe", "folder"])
@pytest.mark.parametrize("name", ["thing", "thing.yaml"])
@pytest.mark.parametrize("read", [Presets(Path("presets"), "preset").file_or_path, platform_tree])
def test_what_is_no_file_is_no_unknown_name(read, kind, name, tmp_path):
    path = str(made(tmp_path / name, kind))
    assert refusal(read, path) == f"{path}: cannot be read: not a file"


@pytest.mark.parametrize("read", [Presets(Path("presets"), "preset").file_or_path, platform_tree])
def test_a_file_of_another_suffix_is_no_yaml(read, tmp_path):
    path = tmp_path / "vehicle.txt"
    path.touch()
    assert "not a YAML file: its name ends in neither .yaml" in refusal(read, str(path))


@pytest.mark.parametrize("kind", ["pipe", "folder", "circle of links", "device", "huge", "none"])
@pytest.mark.parametrize(
    "read",
    [read_text, read_json, lambda path: list(table_lines(path)), lambda path: read_arrays(path, "arrays")],
    ids=["text", "json", "table", "arrays"],
)  # fmt: skip
def test_what_is_no_file_on_a_disk_is_refused_at_once(tmp_path, kind, read):
    path = made(tmp_path / "input", kind)
    line = refusal(read, path)
    assert str(path) in line


def member(array):
    data = io.BytesIO()
    np.lib.format.write_array(data, np.asarray(array))
    return data.getvalue()


def packed(path, data, method=zipfile.ZIP_STORED, names=("a",)):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name in names:
            archive.writestr(f"{name}.npy", data)
    return path


def encrypted(path):
    """A file whose directory says that its member is encrypted."""
    data = bytearray(packed(path, member(1.0)).read_bytes())
    data[data.rfind(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)


CASES = {
    "of trillions": lambda path: packed(path, member(np.zeros(3)).replace(b"(3,)", b"(3000000000000,)", 1)),
    "of a negative size": lambda path: packed(path, member(np.zeros(3)).replace(b"(3,)", b"(-3,)", 1)),
    "objects": lambda path: packed(path, member(np.zeros(2)).replace(b"<f8", b"|O8")),
    "of fields": lambda path: packed(path, member(np.zeros(2, [("x", "<i8"), ("y", "<f8")]))),
    "by another method": lambda path: packed(path, member(np.zeros(2)), zipfile.ZIP_BZIP2),
    "encrypted": encrypted,
    "a single array": lambda path: path.write_bytes(member(np.zeros(2))),
    "a bomb": lambda path: packed(path, bytes(2 << 20), zipfile.ZIP_DEFLATED),
    "cut short": lambda path: path.write_bytes(packed(path, member(np.zeros(99))).read_bytes()[:200]),
    "empty": lambda path: path.touch(),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_an_array_file_that_cannot_be_what_it_says_is_refused_in_one_line(
    tmp_path, case, monkeypatch
):
    monkeypatch.setattr("iap_description.config.array_files.MAX_ARRAYS", 1 << 20)
    path = tmp_path / "p.npz"
    CASES[case](path)
    with pytest.raises(BadInput, match="not a policy's file") as refused:
        read_arrays(path, "a policy's file")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_arrays_of_numbers_and_texts_are_read_as_they_were_written(tmp_path, method):
    path = packed(tmp_path / "p.npz", member(np.arange(6.0).reshape(2, 3)), method)
    np.testing.assert_array_equal(read_arrays(path, "it")["a"], [[0, 1, 2], [3, 4, 5]])
    np.savez(path, text=np.array("words"), f=np.asfortranarray(np.eye(2)), none=np.zeros((0, 4)))
    arrays = read_arrays(path, "it")
    assert str(arrays["text"]) == "words" and arrays["none"].shape == (0, 4)
    np.testing.assert_array_equal(arrays["f"], np.eye(2))


@pytest.mark.parametrize(
    "text",
    ["{", "[" * 100_000, "[" * 60 + "]" * 60, '{"a": NaN}', '{"a": 1e999}', '{"a": 1, "a": 2}', "9" * 5000, ""],
)  # fmt: skip
def test_a_text_that_is_no_json_or_no_numbers_is_refused_in_one_line(text):
    with pytest.raises(BadInput, match="^metrics: ") as refused:
        parse_json(text, source="metrics")
    assert "\n" not in str(refused.value)


class Numbers(Record):
    """Numbers of a configuration."""

    real: Real = 0.0
    positive: Positive = 1.0
    count: Count = 1


@pytest.mark.parametrize(
    ("key", "value"),
    [("real", 1e300), ("real", -1e16), ("positive", 1e-300), ("positive", 0.0), ("count", 2**70)],
)
def test_numbers_whose_products_would_be_none_are_refused_with_their_key(key, value):
    with pytest.raises(BadInput, match=f"file: key '{key}'"):
        validate(Numbers, {key: value}, source="file")


def test_a_table_is_refused_before_memory_is_asked_for():
    check_size("duration", MAX_TABLE / 80, 10)
    for count in (1e12, float("inf"), float("nan")):
        with pytest.raises(BadInput, match="key 'duration'"):
            check_size("duration", count, 10)


@pytest.mark.parametrize("more", [0, 1])
def test_a_file_has_so_many_arrays_at_most(more, tmp_path, monkeypatch):
    monkeypatch.setattr(array_files, "MAX_MEMBERS", 3)
    path = tmp_path / "arrays.npz"
    np.savez(path, **{f"a{k}": np.zeros(2) for k in range(3 + more)})
    if not more:
        assert len(read_arrays(path, "arrays")) == 3
        return
    with pytest.raises(BadInput, match="more than 3 arrays, or than"):
        read_arrays(path, "arrays")


def test_an_array_has_the_bytes_of_its_shape(tmp_path):
    content = io.BytesIO()
    np.save(content, np.arange(3.0))
    path = tmp_path / "arrays.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", content.getvalue()[:-8])
    with pytest.raises(BadInput, match=r"a\.npy.* has 16 bytes, not those of shape \(3,\)"):
        read_arrays(path, "arrays")
