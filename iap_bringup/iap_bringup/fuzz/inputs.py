# SPDX-License-Identifier: BSD-3-Clause
"""Kinds of input: which sound files a case begins with, how one of them is damaged, and which commands read it."""

import io
import json
import os
import shutil
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

from iap_bringup.fuzz.corpus import SHORT, SWEEP, Corpus, files_in, read_tree
from iap_bringup.fuzz.damage import (
    VALUES,
    WORDS,
    damaged_bytes,
    damaged_text,
    damaged_tree,
    detuned_tree,
    other_value,
    paths,
    yaml_bytes,
)

FLIGHT = ("--no-plot", "--json", "--duration", str(SHORT))
FREE = (*FLIGHT, "--engine", "closed_form")
EPISODE = ("--episodes", "1", "--no-plot", "--no-record", "--json")
SWEPT = (*SWEEP[1], "--vary", SWEEP[2], "--seeds", str(SWEEP[3]), "--workers", "1")
STRANGE = 0.06  # share of files that become no files at all
NUMBERS = ("-1", "0", "1", "nan", "inf", "1e9", "1e308", "9" * 30, "x", "", "20000000")
HUGE = 3 << 30  # bytes of a file with nothing in it
SETTABLE = ("hover", "figure_eight_windy", "wall_push", "docking", "module_hover", "arm_pick")
OPTIONS = ("--duration", "--seed", "--engine", "--platform", "--gains", "--sensors", "--scene")


class Kind(NamedTuple):
    """A kind of input.

    Attributes:
        share: of the cases, relative to the others'.
        sources: patterns of sound files or folders, of which a case takes one.
        commands: arguments of ``iap``, of which a case takes one; ``@`` stands for the damaged copy.
        beside: other files of the corpus that the command reads.
        only: ends of the names of the files that are damaged in a folder.
    """

    share: int
    sources: tuple[str, ...]
    commands: tuple[tuple[str, ...], ...]
    beside: tuple[str, ...] = ()
    only: tuple[str, ...] = ("",)


OF_TASK = tuple(("evaluate", name, "--task", "@", *EPISODE) for name in ("hold", "script"))
IN_WORLD = (("run", "world.yaml", *FREE), ("run", "world.yaml", *FLIGHT))
OF_POLICY = (("evaluate", "@", *EPISODE), ("run", "hover", *FREE, "--set", "policy=@"))
OF_RUN = (
    ("plot", "@", "overview"),
    ("identify", "@", "log_1.csv", "--model", "second_order", "--json", "--no-plot"),
    ("localize", "@", "--json"),
)
OF_LOG = (
    ("identify", "@", "log_2.csv", "--model", "second_order", "--no-plot", "--json"),
    ("identify", "@", "log_2.csv", "--model", "dynamic", "--no-plot", "--json"),
)
OF_PLATFORM = (
    ("run", "hover", *FREE, "--platform", "@"),
    ("list", "--platform", "@"),
    ("urdf", "@"),
)
TABLES = ("csv", "yaml", "json")
KINDS: Mapping[str, Kind] = {
    "scenario": Kind(16, ("scenario_*.yaml",), (("run", "@", *FLIGHT),)),
    "free": Kind(12, ("scenario_[fht]*.yaml",), (("run", "@", *FREE),)),
    "resolved": Kind(8, ("resolved_*.yaml",), (("run", "@", *FLIGHT),)),
    "sensors": Kind(6, ("sensors.yaml",), (("run", "@", *FREE),)),
    "world": Kind(6, ("world.yaml",), tuple(("run", "@", *end) for end in (FREE, FLIGHT)), ("mesh.stl",)),
    "mesh": Kind(5, ("mesh.stl",), IN_WORLD, ("world.yaml",)),
    "platform": Kind(12, ("platform_*.yaml",), OF_PLATFORM),
    "task": Kind(8, ("task_*.yaml",), OF_TASK),
    "experiment": Kind(3, ("experiment_*.yaml",), (("train", "@", "--steps", "64", "--offline", "none"),)),
    "arm": Kind(4, ("arm_*.yaml",), (("run", "@", "--no-plot", "--json", "--set", "compare={}"),)),
    "policy": Kind(10, ("hold*.npz", "navigate.npz"), OF_POLICY),
    "policy of dockings": Kind(3, ("docking_nominal.npz",), OF_POLICY[:1]),
    "recorded": Kind(5, ("run/bag", "truth*.csv"), (("replay", "@", *FREE),)),
    "run": Kind(8, ("run",), OF_RUN, ("log_1.csv",)),
    "modules_run": Kind(3, ("modules_run",), (("plot", "@", "modules"),), (), ("npz", "yaml", "json")),
    "arm_run": Kind(3, ("arm_run",), (("plot", "@"),), (), TABLES),
    "log": Kind(5, ("log_1.csv",), OF_LOG, ("log_2.csv",)),
    "sweep": Kind(
        6, ("sweep",), (("sweep", SWEEP[0], *SWEPT, "--no-plot", "--json", "--out", "@"),), (), ("json", "yaml")
    ),
    "set": Kind(16, (), ()),
    "options": Kind(6, (), ()),
}  # fmt: skip
"""By name."""


class Case(NamedTuple):
    """A command on damaged input.

    Attributes:
        kind: name of its kind.
        arguments: of ``iap``.
        out: the folder that it makes; None where it makes none, or goes on with one.
    """

    kind: str
    arguments: list[str]
    out: Path | None


def drawn_kind(rng: Random) -> str:
    """The name of a kind, by their shares."""
    return rng.choices(list(KINDS), [kind.share for kind in KINDS.values()])[0]


def make_case(name: str, corpus: Corpus, home: Path, rng: Random) -> Case:
    """Damage a copy of sound input of a kind in an empty folder."""
    if name == "set":
        arguments = _settings(corpus, rng)
    elif name == "options":
        arguments = _options(rng)
    else:
        arguments = _files(KINDS[name], corpus, home, rng)
    makes = arguments[0] not in ("list", "plot", "urdf") and "--out" not in arguments
    return Case(
        name, [*arguments, *(("--out", "o") if makes else ())], home / "o" if makes else None
    )


def _settings(corpus: Corpus, rng: Random) -> list[str]:
    """A scenario with damaged values of its keys."""
    name = rng.choice(SETTABLE)
    resolved = corpus[f"resolved_{name}.yaml"] or corpus["resolved_hover.yaml"]
    tree = read_tree(resolved[0])
    known = paths(tree)
    arguments = ["run", name, *FLIGHT]
    for _ in range(rng.randint(1, 2)):
        key = rng.choice(known)
        words = (*WORDS, *map(str, VALUES), *NUMBERS, yaml_bytes(rng.choice(VALUES)).decode())
        others = [
            json.dumps(other_value(_value_at(tree, key), rng)) for _ in range(2 * len(words))
        ]
        arguments += ["--set", f"{key}={rng.choice((*words, *others))}".replace("\0", "")]
    return arguments


def _value_at(tree: Any, path: str) -> Any:  # noqa: ANN401 - YAML
    """The value below a dotted path."""
    for key in path.split("."):
        tree = tree[int(key)] if isinstance(tree, list) else tree[key]
    return tree


def _options(rng: Random) -> list[str]:
    """Options of the command line with values that are none."""
    verb = rng.choice(("run", "evaluate", "localize", "identify", "render", "dataset"))
    words = (*NUMBERS, "hover", "hold", "/nonexistent/x.yaml", "/dev/zero", "/", ".", "ä\u2028b")
    named = {"run": "hover", "evaluate": "hold", "dataset": "hover"}
    arguments = [verb, named.get(verb, rng.choice(words))]
    own = {
        "run": OPTIONS,
        "evaluate": ("--episodes", "--seed", "--threads", "--task", "--preset", "--export", "--video"),
        "localize": ("--method", "--preset", "--map", "--truth", "--set"),
        "identify": ("--model", "--set", "--fit"),
        "render": ("--time", "--video", "--rate", "--scene"),
        "dataset": ("--count", "--seed", "--sensors", "--vary"),
    }  # fmt: skip
    arguments += {
        "identify": ("--model", "second_order"),
        "run": FREE,
        "evaluate": EPISODE,
        "dataset": ("--duration", "0.03"),
    }.get(verb, ())
    return [*arguments, f"{rng.choice(own[verb])}={rng.choice(words)}"]


def _files(kind: Kind, corpus: Corpus, home: Path, rng: Random) -> list[str]:
    """A command whose input has one damaged file."""
    candidates = [path for pattern in kind.sources for path in corpus[pattern]]
    copy = _copied(rng.choice(candidates), home)
    for each in kind.beside:
        _copied(corpus[each][0], home)
    files = [each for each in files_in(copy) if each.name.endswith(kind.only)]
    damage(rng.choice(files), rng)
    return [each.replace("@", copy.name) for each in rng.choice(kind.commands)]


def _copied(path: Path, home: Path) -> Path:
    copy = home / path.name
    return Path(shutil.copytree(path, copy) if path.is_dir() else shutil.copy(path, copy))


def damage(file: Path, rng: Random) -> None:
    """Damage a file by what it is, or put in its place what is no file."""
    if rng.random() < STRANGE:
        rng.choice(_STRANGE)(file)
    elif file.suffix == ".npz":
        file.write_bytes(_archive(file, rng))
    elif file.suffix in (".yaml", ".json") and rng.random() < 0.8:
        change = detuned_tree if rng.random() < 0.8 else damaged_tree
        tree = change(read_tree(file), rng)
        file.write_bytes(json.dumps(tree).encode() if file.suffix == ".json" else yaml_bytes(tree))
    elif file.suffix in (".yaml", ".json", ".csv", ".tum", ".stl"):
        file.write_bytes(damaged_text(file.read_text(encoding="utf-8"), rng))
    else:
        file.write_bytes(damaged_bytes(file.read_bytes(), rng))


def _replaced(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def replace(file: Path) -> None:
        file.unlink()
        make(file)

    return replace


_STRANGE: tuple[Callable[[Path], None], ...] = (
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
        arrays[name] = rng.choice(_ARRAYS)(arrays[name])
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
