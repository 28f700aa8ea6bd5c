# SPDX-License-Identifier: BSD-3-Clause
"""Damaged input of every kind, each read as the commands read it; as a program it is a worker of `test_damaged_input`.

What is right ends in acceptance or in one line of `IapError`. A worker prints a line of JSON for every case that did
not, and a last one with what it counted.
"""

import json
import logging
import re
import resource
import shutil
import signal
import sqlite3
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import cv2
import numpy as np
import trimesh
import yaml
from flight_bags import BagMaker, motion
from made_up_sensors import record_pairs
from resting_pair import PairBag, resting, write_euroc
from rosbags import rosbag1, rosbag2

from iap_bringup.fuzz.damage import (
    VALUES,
    WORDS,
    damaged_bytes,
    damaged_text,
    damaged_tree,
    paths,
    yaml_bytes,
)
from iap_description.config.plain_yaml import read_yaml
from iap_description.config.record import validate
from iap_description.errors import MAX_ERROR_CHARACTERS, IapError
from iap_description.vehicles.platform import platform_tree
from iap_description.world.world import World
from iap_estimation.datasets.localization import tracked
from iap_estimation.datasets.opening import Choices, open_dataset
from iap_estimation.navigation.aircraft_frontend import FrontendStats
from iap_estimation.navigation.settings import load_settings
from iap_io.runs.run_folder import load_run, read_metrics, write_config, write_metrics
from iap_io.trajectories.reader import read_recorded
from iap_simulation.scenario.resolving import SCENARIOS, Options, resolve, scenario_of

CPU_SECONDS = 5.0  # after which a case hangs
MEMORY = 500 << 20  # bytes that a worker may come to
ADDRESSES = 8 << 30  # so that a machine survives what is wrong
SHARES = {  # of the cases, by kind
    "scenario": 30, "set": 20, "platform": 12, "replay": 16, "csv": 3, "pair": 4, "run": 7, "euroc": 5, "mesh": 3,
}  # fmt: skip
BARE = re.compile(r"(MemoryError|AssertionError|OverflowError)")
SCENARIO_NAMES = ("hover", "peg_in_hole", "two_platforms", "figure_eight_windy")
BAGS = ("plain.bag", "bz2.bag", "lz4.bag", "db3", "db3_message", "db3_file", "mcap", "mcap_zstd")


class Hangs(BaseException):
    """No exception of the program's: nothing may catch it."""


# --- what is damaged ----------------------------------------------------------------------------


def make_corpus(home: Path) -> None:
    """Sound input of every kind."""
    _make_bags(home / "replay")
    write_euroc(home / "euroc", resting(0.2))
    pairs = home / "pair"
    for kind in ("ros1", "mcap"):
        (pairs / kind).mkdir(parents=True)
        PairBag(kind, compressed=kind == "mcap").write(pairs / kind, resting(0.2))
    _make_run(home / "run")
    meshes = home / "mesh"
    meshes.mkdir()
    box = trimesh.creation.box((1.0, 2.0, 0.5))
    for kind in ("stl", "stl_ascii", "obj", "ply", "off"):
        name = "box_ascii.stl" if kind == "stl_ascii" else f"box.{kind}"
        box.export(meshes / name, file_type=kind)
    rows = [
        ",".join(map(repr, [1_403_636_580_000_000_000 + 5_000_000 * i, 0.1 * i, 0.0, 1.0, 0.7071, 0.0, -0.7071, 0.0]))
        for i in range(60)
    ]  # fmt: skip
    (home / "csv").mkdir()
    (home / "csv" / "truth.csv").write_text("#timestamp, p, q\n" + "\n".join(rows) + "\n")


def _make_bags(home: Path) -> None:
    home.mkdir()
    m = motion(np.arange(0.0, 2.0, 0.02))
    for compression in ("plain", "bz2", "lz4"):
        maker = BagMaker(home, "ros1")
        path = maker.write({"/reference": maker.poses(m)}, compression)
        if compression != "plain":
            _compressed(path, rosbag1.Writer.CompressionFormat[compression.upper()])
    for name, kind, mode in (
        ("db3", "sqlite3", None),
        ("db3_message", "sqlite3", "MESSAGE"),
        ("db3_file", "sqlite3", "FILE"),
        ("mcap", "mcap", None),
        ("mcap_zstd", "mcap", "STORAGE"),
    ):
        maker = BagMaker(home, kind)
        path = maker.write({"/reference": maker.poses(m)}, name)
        if mode is not None:
            _rewritten(path, kind, rosbag2.CompressionMode[mode])


def _compressed(path: Path, how: Any) -> None:
    """Write a ROS 1 bag again, compressed."""
    plain = path.with_suffix(".plain")
    path.rename(plain.with_suffix(".old.bag"))
    with rosbag1.Reader(plain.with_suffix(".old.bag")) as reader:
        writer = rosbag1.Writer(path)
        writer.set_compression(how)
        with writer:
            for c in reader.connections:
                new = writer.add_connection(
                    c.topic, c.msgtype, msgdef=c.msgdef.data, md5sum=c.digest
                )
                for _, stamp, data in reader.messages([c]):
                    writer.write(new, stamp, data)
    plain.with_suffix(".old.bag").unlink()


def _rewritten(path: Path, kind: str, mode: rosbag2.CompressionMode) -> None:
    """Write a bag of ROS 2 again, compressed."""
    old = path.with_name("old")
    path.rename(old)
    writer = rosbag2.Writer(path, version=9, storage_plugin=rosbag2.StoragePlugin[kind.upper()])
    writer.set_compression(mode, rosbag2.CompressionFormat.ZSTD)
    with rosbag2.Reader(old) as reader, writer:
        for c in reader.connections:
            new = writer.add_connection(c.topic, c.msgtype, msgdef=c.msgdef.data, rihs01=c.digest)
            for _, stamp, data in reader.messages([c]):
                writer.write(new, stamp, data)
    shutil.rmtree(old)


def _make_run(home: Path) -> None:
    home.mkdir()
    sensors = record_pairs(home)
    _, tree = resolve("hover", Options(platform="two_line", duration=0.3))
    write_config(home, tree, sensors)
    write_metrics(home, {"outcome": "completed", "position_rmse_m": 0.1, "axis_rmse_deg": None})


# --- how it is read -----------------------------------------------------------------------------


@dataclass
class Trial:
    """Needs of a case: sound input, a folder of its own, and its dice."""

    corpus: Path
    home: Path
    rng: Random

    def scenario(self) -> None:
        path = self.home / "mine.yaml"
        base = SCENARIOS.tree(self.rng.choice(SCENARIO_NAMES))
        if self.rng.random() < 0.3:
            base = _resolved(self.rng.choice(SCENARIO_NAMES))
        path.write_bytes(self._yaml(base))
        scene = self.rng.choice((None, None, None, "open_field"))
        sensors = self.rng.choice((None, None, None, "stereo"))
        resolve(str(path), Options(scene=scene, sensors=sensors))

    def set(self) -> None:
        name = self.rng.choice(SCENARIO_NAMES)
        known = paths(_resolved(name))
        assignments = []
        for _ in range(self.rng.randint(1, 3)):
            value = self.rng.choice(
                (*WORDS, *map(str, VALUES), yaml_bytes(self.rng.choice(VALUES)).decode())
            )
            key = self.rng.choice(known)
            if self.rng.random() < 0.15:
                key = damaged_text(key, self.rng).decode(errors="surrogateescape")
            assignments.append(f"{key}={value}")
        resolve(name, Options(assignments=tuple(assignments)))

    def platform(self) -> None:
        path = self.home / "mine.yaml"
        path.write_bytes(
            self._yaml(platform_tree(self.rng.choice(("three_star", "f450", "two_line")))[0])
        )
        resolve("hover", Options(platform=str(path)))

    def replay(self) -> None:
        name = self.rng.choice(BAGS)
        copy = self._copy(self.corpus / "replay" / name)
        self._damage_one(copy)
        files = [each for each in copy.iterdir() if each.suffix == ".db3"] if copy.is_dir() else []
        if files and self.rng.random() < 0.3:
            self._damage_rows(files[0])
        read_recorded(copy, topic=self.rng.choice((None, "/reference")))

    def csv(self) -> None:
        copy = self._copy(self.corpus / "csv" / "truth.csv")
        copy.write_bytes(damaged_text(copy.read_text(), self.rng))
        read_recorded(copy)

    def pair(self) -> None:
        name, only = self.rng.choice((("ros1", "pair.bag"), ("mcap", "pair")))
        copy = self._copy(self.corpus / "pair" / name / only)
        self._damage_one(copy)
        self._heard(copy)

    def run(self) -> None:
        copy = self._copy(self.corpus / "run")
        files = (
            ("bag/bag_0.mcap",) * 6 + ("bag/metadata.yaml",) * 2 + ("config.yaml", "metrics.json")
        )
        file = copy / self.rng.choice(files)
        if file.suffix == ".mcap":
            file.write_bytes(damaged_bytes(file.read_bytes(), self.rng))
        else:
            file.write_bytes(self._text(file))
        what = self.rng.random()
        if what < 0.5:
            load_run(copy)
        elif what < 0.7:
            read_metrics(copy)
            scenario_of(read_yaml(copy / "config.yaml"), str(copy / "config.yaml"))
        else:
            self._heard(copy)

    def euroc(self) -> None:
        copy = self._copy(self.corpus / "euroc")
        files = sorted(each for each in copy.rglob("*") if each.is_file())
        tables = [each for each in files if each.suffix != ".png"]
        file = self.rng.choice(tables if self.rng.random() < 0.7 else files)
        if self.rng.random() < 0.05:
            file.unlink()
        elif file.suffix == ".png":
            file.write_bytes(damaged_bytes(file.read_bytes(), self.rng))
        else:
            file.write_bytes(self._text(file))
        self._heard(copy)

    def mesh(self) -> None:
        copy = self._copy(self.rng.choice(sorted((self.corpus / "mesh").iterdir())))
        copy.write_bytes(damaged_bytes(copy.read_bytes(), self.rng))
        surface = {"friction": 0.5, "restitution": 0.0}
        item = {"type": "mesh", "file": str(copy), "position": [0.0, 0.0, 1.0], "surface": surface}
        validate(World, {"objects": {"thing": item}}, source="world")

    def _yaml(self, tree: Any) -> bytes:
        if self.rng.random() < 0.5:
            return yaml_bytes(damaged_tree(tree, self.rng))
        return damaged_text(yaml_bytes(tree).decode(), self.rng)

    def _text(self, file: Path) -> bytes:
        if file.suffix == ".yaml" and self.rng.random() < 0.5:
            return yaml_bytes(damaged_tree(yaml.safe_load(file.read_text()), self.rng))
        return damaged_text(file.read_text(), self.rng)

    def _copy(self, path: Path) -> Path:
        copy = self.home / path.name
        return shutil.copytree(path, copy) if path.is_dir() else shutil.copy(path, copy)

    def _damage_one(self, path: Path) -> None:
        if path.is_dir():
            files = sorted(path.iterdir())
            path = self.rng.choice(
                [each for each in files if each.name != "metadata.yaml"] * 4 + files
            )
        if path.suffix == ".yaml":
            path.write_bytes(self._text(path))
        else:
            path.write_bytes(damaged_bytes(path.read_bytes(), self.rng))

    def _damage_rows(self, file: Path) -> None:
        """Damage messages in a database that stays one."""
        try:
            with closing(sqlite3.connect(file)) as base, base:
                rows = [row for (row,) in base.execute("SELECT id FROM messages")]
                row = self.rng.choice(rows)
                data = base.execute("SELECT data FROM messages WHERE id = ?", (row,)).fetchone()[0]
                base.execute(
                    "UPDATE messages SET data = ? WHERE id = ?",
                    (damaged_bytes(data or b"", self.rng), row),
                )
                stamp = self.rng.choice((-1, 0, 2**62, 2**63 - 1, "x", None))
                if self.rng.random() < 0.5:
                    base.execute("UPDATE messages SET timestamp = ? WHERE id = ?", (stamp, row))
        except (sqlite3.Error, ValueError, IndexError, TypeError, MemoryError):
            return  # it was damaged already: no message, none of that id, or one of gigabytes

    def _heard(self, path: Path) -> None:
        """Read all measurements; sometimes follow the images."""
        dataset = open_dataset(path, Choices())
        if self.rng.random() < 0.2:
            for _ in tracked(dataset, load_settings().frontend, FrontendStats()):
                pass
        else:
            for _ in dataset.events():
                pass


def _resolved(name: str, known: dict[str, Any] = {}) -> Any:  # noqa: B006 - kept on purpose
    if name not in known:
        known[name] = resolve(name, Options())[1]
    return known[name]


KINDS: dict[str, Callable[[Trial], None]] = {name: getattr(Trial, name) for name in SHARES}
"""By kind, the case."""


# --- the worker ---------------------------------------------------------------------------------


def kind_of(number: int) -> str:
    """The kind of a case."""
    return Random(f"kind {number}").choices(list(SHARES), list(SHARES.values()))[0]


@contextmanager
def limited() -> Iterator[None]:
    """At most `CPU_SECONDS` of the processor: the clock of a busy machine says nothing."""

    def stop(*_: object) -> None:
        raise Hangs

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)


def peak_memory() -> int:
    """Largest memory of this process so far [bytes]; getrusage's counts that of its parent, too."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM"))


def judged(corpus: Path, number: int) -> str:
    """Outcome of a case: ``accepted``, ``refused``, or in more words what is wrong."""
    kind = kind_of(number)
    with tempfile.TemporaryDirectory(prefix="damaged_") as home:
        found = _outcome(kind, Trial(corpus, Path(home), Random(f"case {number}")))
    peak = peak_memory()
    return f"memory: {peak >> 20} MiB" if peak > MEMORY else found


def _outcome(kind: str, trial: Trial) -> str:
    try:
        with limited():
            KINDS[kind](trial)
    except IapError as error:
        return _line_fault(str(error)) or "refused"
    except Hangs:
        return f"hang: more than {CPU_SECONDS} s"
    except Exception as error:  # each is a fault
        return f"traceback: {type(error).__name__}: {' '.join(str(error).split())[:200]}"
    return "accepted"


def _line_fault(text: str) -> str | None:
    if "\n" in text or not text or len(text) > MAX_ERROR_CHARACTERS + 10:
        return f"line: {text[:100]!r} of {len(text)} characters"
    return f"bare: {text[:200]}" if BARE.search(text) else None


def main() -> None:
    """Take cases from `first` on in steps of `step`, until `stop`."""
    corpus, first, stop, step = Path(sys.argv[1]), *map(int, sys.argv[2:5])
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    cv2.setNumThreads(1)
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    counts: Counter[str] = Counter()
    for number in range(first, stop, step):
        found = judged(corpus, number)
        word, _, _ = found.partition(":")
        counts[f"{kind_of(number)} {word}"] += 1
        if word not in ("accepted", "refused"):
            _say({"case": number, "kind": kind_of(number), "fault": found})
        if word == "memory":
            break  # which all further cases would say
    peak = peak_memory()
    _say({"counts": counts, "peak": peak})


def _say(record: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(record) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
