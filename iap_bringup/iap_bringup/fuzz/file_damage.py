# SPDX-License-Identifier: BSD-3-Clause
"""Damage to files by what they are: trees, texts, archives of arrays, bytes; and things that are no files at all."""

import io
import json
import os
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import yaml

from iap_bringup.fuzz.bag_damage import BAGS, damage_bag
from iap_bringup.fuzz.damage import (
    damaged_bytes,
    damaged_text,
    damaged_tree,
    detuned_tree,
    yaml_bytes,
)
from iap_bringup.fuzz.table_damage import damaged_table, damaged_xml

STRANGE = 0.06  # share of files that become no files at all
BOMBS = 0.03  # share of archives that unpack to more than a machine has
HUGE = 3 << 30  # bytes of a file with nothing in it
PIECE = 1 << 24  # bytes that are packed at once
TREES = (".yaml", ".json")
TABLES = (".csv", ".tum")
XML = (".urdf", ".sdf", ".xml")
TEXTS = (*TREES, *TABLES, *XML, ".txt", ".stl", ".obj")
READABLE = 0.6  # share of tables, bags, XML and files of MATLAB whose values alone are damaged


def read_tree(path: Path) -> Any:  # noqa: ANN401 - of any file
    """The plain tree in a file."""
    text = path.read_text(encoding="utf-8")
    return json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)


def damage(file: Path, rng: Random) -> None:
    """Damage a file by what it is, or put in its place what is no file."""
    if rng.random() < STRANGE:
        rng.choice(STRANGE_FILES)(file)
    elif file.suffix == ".npz":
        file.write_bytes(_archive(file, rng))
    elif file.suffix == ".mat" and rng.random() < BOMBS:
        file.write_bytes(_matlab_bomb(file.read_bytes()))
    elif rng.random() < READABLE and _damage_values(file, rng):
        return
    elif file.suffix in TREES and rng.random() < 0.8:
        change = detuned_tree if rng.random() < 0.8 else damaged_tree
        tree = change(read_tree(file), rng)
        file.write_bytes(json.dumps(tree).encode() if file.suffix == ".json" else yaml_bytes(tree))
    elif file.suffix in TEXTS:
        file.write_bytes(damaged_text(file.read_text(encoding="utf-8"), rng))
    else:
        file.write_bytes(damaged_bytes(file.read_bytes(), rng))


def _damage_values(file: Path, rng: Random) -> bool:
    """Damage what a file says and not its form; False for one whose values are not told apart."""
    if file.suffix in BAGS:
        return damage_bag(file, rng)
    if file.suffix == ".mat":
        return _damage_matlab(file, rng)
    change = (
        damaged_table if file.suffix in TABLES else damaged_xml if file.suffix in XML else None
    )
    if change is not None:
        file.write_bytes(change(file.read_text(encoding="utf-8"), rng))
    return change is not None


def _damage_matlab(file: Path, rng: Random) -> bool:
    """One variable of a file of MATLAB damaged, left out or by another name."""
    from scipy.io import loadmat, savemat  # slow to import

    try:
        variables = {k: v for k, v in loadmat(file).items() if not k.startswith("__")}
        name = rng.choice(sorted(variables))
        value, what = variables.pop(name), rng.random()
        if what < 0.8:
            variables[name] = rng.choice((*_ARRAYS, *_SERIES))(value)
        elif what < 0.9:
            variables[rng.choice(("x", "t", "ts", "psi"))] = value
        savemat(file, variables)
    except (TypeError, ValueError, IndexError):  # no such file, or numbers that MATLAB has not
        return False
    return True


def _replaced(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def replace(file: Path) -> None:
        file.unlink()
        make(file)

    return replace


STRANGE_FILES: tuple[Callable[[Path], None], ...] = (
    _replaced(os.mkfifo),
    _replaced(Path.mkdir),
    _replaced(Path.touch),
    _replaced(lambda file: file.symlink_to(file.name)),
    _replaced(lambda file: file.symlink_to("/dev/zero")),
    _replaced(lambda file: file.symlink_to("..")),
    _replaced(lambda file: None),
    lambda file: os.truncate(file, HUGE),
)  # fmt: skip


def _archive(file: Path, rng: Random) -> bytes:
    """Arrays damaged one by one, or the bytes of their file."""
    if rng.random() < BOMBS:
        return array_bomb(rng.choice(("header", "mean", "weights_0", "t")))
    if rng.random() < 0.3:
        return damaged_bytes(file.read_bytes(), rng)
    with np.load(file, allow_pickle=False) as archive:
        arrays: dict[str, Any] = dict(archive)
    name = "header" if "header" in arrays and rng.random() < 0.5 else rng.choice(sorted(arrays))
    if name == "header":
        text = json.dumps(damaged_tree(json.loads(str(arrays[name])), rng))
        arrays[name] = np.array(
            rng.choice((text, "[" * 100_000, "", damaged_text(text, rng).decode(errors="replace")))
        )
    else:
        is_numbers = arrays[name].dtype.kind in "biufc"
        arrays[name] = rng.choice(_ARRAYS if is_numbers else _OF_TEXTS)(arrays[name])
    if rng.random() < 0.1:
        del arrays[name]
    return _packed(arrays, rng)


_ARRAYS: tuple[Callable[[Any], Any], ...] = (
    lambda a: np.full_like(a, np.nan), lambda a: np.full(a.shape, 1e300), lambda a: np.zeros_like(a), lambda a: -a,
    lambda a: np.full(a.shape, 3e38, np.float32), lambda a: np.full(a.shape, 1e-45, np.float32),
    lambda a: a.astype("U"), lambda a: a.astype(np.complex128), lambda a: a.astype(np.int8), lambda a: a.reshape(-1),
    lambda a: a[..., :-1], lambda a: a[None], lambda a: np.zeros(a.shape, [("a", "<i8"), ("b", "<f8")]),
    lambda a: np.array("x"), lambda a: a[:0], lambda a: np.asfortranarray(a), lambda a: a.astype("datetime64[s]"),
    lambda a: a.astype(">f8"), lambda a: np.array(1.0),
)  # fmt: skip

_SERIES: tuple[Callable[[Any], Any], ...] = (
    lambda a: 1000.0 * a, lambda a: a + 1e9, lambda a: a[..., ::-1], lambda a: np.concatenate([a, a], -1),
    lambda a: np.where(np.arange(a.size) == 3, np.nan, a), lambda a: np.where(np.arange(a.size) > a.size // 2, 0.0, a),
)  # fmt: skip

_OF_TEXTS: tuple[Callable[[Any], Any], ...] = (
    lambda a: np.full(a.shape, np.nan), lambda a: a.reshape(-1), lambda a: a[None], lambda a: a[:0],
    lambda a: np.array("x"),
)  # fmt: skip


def _packed(arrays: Mapping[str, Any], rng: Random) -> bytes:
    """A file of arrays, packed in any way."""
    if rng.random() < 0.05:
        single = io.BytesIO()
        np.save(single, next(iter(arrays.values())))
        return single.getvalue()
    out = io.BytesIO()
    methods = (zipfile.ZIP_STORED,) * 6 + (
        zipfile.ZIP_DEFLATED,
        zipfile.ZIP_BZIP2,
        zipfile.ZIP_LZMA,
    )
    lies = rng.random() < 0.1
    with zipfile.ZipFile(out, "w", rng.choice(methods)) as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)
            data = member.getvalue()
            archive.writestr(
                f"{name}.npy", data.replace(b"(", b"(10000000000, ", 1) if lies else data
            )
    packed = bytearray(out.getvalue())
    if rng.random() < 0.03:  # encrypted, says the directory
        packed[packed.rfind(b"PK\x01\x02") + 8] |= 1
    return bytes(packed)


def _zeros(window: int) -> bytes:
    """`HUGE` zeros as a stream of zlib, made of one piece over and over."""
    packing = zlib.compressobj(9, zlib.DEFLATED, window)
    first = packing.compress(bytes(PIECE)) + packing.flush(zlib.Z_FULL_FLUSH)
    piece = packing.compress(bytes(PIECE)) + packing.flush(zlib.Z_FULL_FLUSH)
    return first + piece * (HUGE // PIECE - 1) + packing.flush()


def array_bomb(name: str) -> bytes:
    """An archive with one array of packed zeros, stored first and then told to be packed."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(f"{name}.npy", _zeros(-zlib.MAX_WBITS))
    data = bytearray(out.getvalue())
    directory = data.rfind(b"PK\x01\x02")
    data[directory + 10] = zipfile.ZIP_DEFLATED  # readers go by the directory
    data[directory + 24 : directory + 28] = HUGE.to_bytes(4, "little")
    return bytes(data)


def _matlab_bomb(data: bytes) -> bytes:
    """A file's header with one packed variable of zeros, which comes to more than memory has."""
    packed = _zeros(zlib.MAX_WBITS)
    kind = (15).to_bytes(4, "little") + len(packed).to_bytes(4, "little")
    return data[:128] + kind + packed
