# SPDX-License-Identifier: BSD-3-Clause
"""The study of a sweep: a scenario, the keys that are varied with their values, and the seeds of each combination."""

import hashlib
import itertools
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from iap_description.config.bounds import LARGEST_NUMBER
from iap_description.config.plain_yaml import parse_yaml
from iap_description.errors import BadInput, shown
from iap_simulation.batch.starts import MOST_SEEDS
from iap_simulation.scenario.resolving import Options, resolve

MOST_RUNS = 10_000_000
MOST_POINTS = 100_000  # combinations, each of which is resolved before anything is flown
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_RANGE = re.compile(rf"({_NUMBER}):({_NUMBER}):(\d{{1,7}})")
# Keys that stand for a preset: they are resolved before all others, as the options of these names are.
OPTION_OF = {
    "platform": "platform",
    "control.gains": "gains",
    "sensors": "sensors",
    "world.scene": "scene",
    "control.state_source": "state_source",
}
PACKAGES = Path(__file__).parents[3]  # where the suite's packages lie beside each other


class Axis(NamedTuple):
    """A key that is varied."""

    key: str
    values: tuple[Any, ...]

    @classmethod
    def of(cls, text: str) -> Self:
        """The axis that a text ``KEY=FROM:TO:COUNT`` or ``KEY=VALUE,VALUE,...`` names; values are YAML.

        Raises:
            BadInput: it is neither, a value comes twice, or the key is that of the seed.
        """
        key, equals, values = text.partition("=")
        if not (equals and key and values):
            raise BadInput(f"--vary {text}: KEY=FROM:TO:COUNT or KEY=VALUE,VALUE,... is expected")
        if key == "seed":
            raise BadInput("--vary seed: the option --seeds says how many are flown")
        parsed = _RANGE.fullmatch(values)
        if parsed is None and re.fullmatch(r"[-+.\de]+:[-+.\de]+", values):
            raise BadInput(f"--vary {text}: how many values? KEY=FROM:TO:COUNT is expected")
        varied = _range(text, *parsed.groups()) if parsed else _list(text, values)
        if len({json.dumps(value, sort_keys=True) for value in varied}) < len(varied):
            raise BadInput(f"--vary {text}: a value comes twice")
        return cls(key, tuple(varied))


def _range(text: str, first: str, last: str, count: str) -> list[float]:
    if int(count) < 1 or (int(count) == 1 and float(first) != float(last)):
        raise BadInput(f"--vary {text}: at least two values are expected from {first} to {last}")
    if max(abs(float(first)), abs(float(last))) > LARGEST_NUMBER:
        raise BadInput(f"--vary {text}: numbers are at most {LARGEST_NUMBER:g}")
    if int(count) > MOST_POINTS:
        raise BadInput(f"--vary {text}: {count} values are more than {MOST_POINTS}")
    return [float(value) for value in np.linspace(float(first), float(last), int(count))]


def _list(text: str, values: str) -> list[Any]:
    parsed = parse_yaml(f"[{values}]", source=f"--vary {text}")
    is_cut = values.rstrip().endswith(",")
    if is_cut or not isinstance(parsed, list) or not parsed or None in parsed:
        raise BadInput(f"--vary {text}: values are missing between the commas")
    return parsed


@dataclass(frozen=True)
class SweepPoint:
    """A combination of values.

    Attributes:
        varied: value of each varied key.
        tree: the resolved plain tree, whose seed does not count.
    """

    varied: dict[str, Any]
    tree: dict[str, Any]


@dataclass(frozen=True)
class Study:
    """A sweep.

    Attributes:
        scenario: name or path.
        options: of the command line; their seed is the first one's.
        axes: keys that are varied; none flies the scenario as it is.
        seeds: how many are flown of each combination.
        records: whether a recording of each run is kept.
    """

    scenario: str
    options: Options = field(default_factory=Options)
    axes: tuple[Axis, ...] = ()
    seeds: int = 1
    records: bool = False

    def __post_init__(self) -> None:
        keys = [axis.key for axis in self.axes]
        twice = [key for key in keys if keys.count(key) > 1]
        if twice:
            raise BadInput(f"--vary {twice[0]}: comes twice")
        if self.seeds < 1:
            option = "--count" if self.records else "--seeds"
            raise BadInput(f"{option} {self.seeds}: at least one is expected")
        if not 0 <= self.first_seed < MOST_SEEDS - self.seeds:
            raise BadInput(f"--seed {self.first_seed}: a number from 0 to 2^63 - 1 is expected")
        if self.runs > MOST_RUNS:
            raise BadInput(f"{self.runs} runs are more than {MOST_RUNS}")
        if self.runs // self.seeds > MOST_POINTS:
            raise BadInput(f"{self.runs // self.seeds} combinations are more than {MOST_POINTS}")

    @property
    def first_seed(self) -> int:
        """The seed of the first run of each combination."""
        return self.options.seed or 0

    @property
    def runs(self) -> int:
        """Number of runs."""
        return self.seeds * int(np.prod([len(axis.values) for axis in self.axes], dtype=np.int64))

    def points(self) -> list[SweepPoint]:
        """All combinations, the last key changing fastest.

        Raises:
            BadInput: a key is unknown, or a combination is impossible.
        """
        return list(self._resolved())

    def _resolved(self) -> Iterator[SweepPoint]:
        for values in itertools.product(*(axis.values for axis in self.axes)):
            varied = dict(zip([axis.key for axis in self.axes], values, strict=True))
            options = with_values(self.options, varied)
            try:
                yield SweepPoint(varied, resolve(self.scenario, options)[1])
            except BadInput as error:
                if not varied:
                    raise
                raise BadInput(f"with {label(varied)}: {error}") from error


def label(varied: dict[str, Any]) -> str:
    """A combination for a line of text."""
    return ", ".join(f"{key} = {shown(value)}" for key, value in varied.items())


def with_values(options: Options, varied: dict[str, Any]) -> Options:
    """Options with the values of a combination."""
    presets = {
        OPTION_OF[key]: value
        for key, value in varied.items()
        if key in OPTION_OF and isinstance(value, str)
    }
    sets = tuple(
        f"{key}={json.dumps(value)}"
        for key, value in varied.items()
        if OPTION_OF.get(key) not in presets
    )
    return options.model_copy(update={**presets, "seed": 0}).and_set(sets)


def fingerprint(tree: dict[str, Any], seeds: Sequence[int]) -> str:
    """Name of a piece of work: equal for equal configuration, seeds and source code, whoever does it."""
    return seeds_fingerprint(tree_fingerprint(tree), seeds)


def tree_fingerprint(tree: dict[str, Any]) -> str:
    """Digest of a configuration without its seed, and of the source code."""
    content = {"tree": {**tree, "seed": 0}, "source": source_fingerprint()}
    return _digest(json.dumps(content, sort_keys=True).encode())


def seeds_fingerprint(of_tree: str, seeds: Sequence[int]) -> str:
    """Name of a piece of work, see `fingerprint`, from the digest of its tree: there may be a million of one."""
    return _digest(f"{of_tree} {list(seeds)}".encode())


@cache
def source_fingerprint() -> str:
    """Digest of the suite's source code and data."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGES.glob("iap_*/iap_*/**/*")):
        if path.suffix in (".py", ".yaml") and path.is_file():
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:20]


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:20]
