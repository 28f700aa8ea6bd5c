# SPDX-License-Identifier: BSD-3-Clause
"""A policy: one ``.npz`` file of weights and of what its numbers mean, see `Header`.

Arrays are float32: `mean` and `deviation` (n,) of observations, `weights_I` (in, out) and `biases_I` (out,) of layer I.
"""

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from iap_description.config.record import FileName, Record, validate
from iap_description.errors import BadInput
from iap_learning.policies.layout import Activation, Layout
from iap_learning.policies.network import Network, Numbers

SHIPPED = Path(__file__).parents[1] / "data" / "policies"
SUFFIX = ".npz"


class Trainable(Protocol):
    """Episodes, as far as a policy's header tells of them."""

    @property
    def task(self) -> Any:  # noqa: ANN401 - of any kind
        """What is to be done."""

    @property
    def worlds(self) -> Any:  # noqa: ANN401 - of any kind
        """That fly."""

    @property
    def policy_layout(self) -> Layout:
        """Meaning of a policy's numbers."""


class Hashes(Record):
    """SHA-256 of what a policy was trained with, in hexadecimal.

    Attributes:
        task: the resolved task as JSON.
        data: the data set; None without one.
    """

    task: str
    data: str | None


class Header(Layout):
    """What stands beside the arrays of a policy's file, as JSON.

    Attributes:
        format: of the file.
        task: that it was trained for.
        scenario: the same.
        activation: of hidden layers; the last one is linear.
        hashes: of what it was trained with.
        settings: values of the task's keys by their dotted paths, over those of its file.
        definition: all keys of a task that does not ship with the suite; None for one that does.
        training: whatever the training notes.
    """

    format: Literal[1] = 1
    task: FileName
    scenario: str
    activation: Activation
    hashes: Hashes
    settings: dict[str, Any] = {}
    definition: dict[str, Any] | None = None
    training: dict[str, Any]

    @classmethod
    def for_episodes(
        cls,
        episodes: Trainable,
        training: Mapping[str, Any],
        *,
        settings: Mapping[str, Any] | None = None,
        data: str | None = None,
    ) -> Self:
        """The header of a policy that flies a task.

        Args:
            episodes: of the task.
            training: whatever the training notes.
            settings: of the task's keys, with which it was made.
            data: hash of the data set; None without one.
        """
        return cls(
            **dict(episodes.policy_layout),
            task=episodes.task.name,
            definition=episodes.task.definition,
            scenario=episodes.worlds.scenario.scenario,
            activation="tanh",
            hashes=Hashes(task=episodes.task.digest, data=data),
            settings=dict(settings or {}),
            training=dict(training),
        )

    @property
    def layout(self) -> Layout:
        """What the numbers mean, alone."""
        return Layout.model_construct(**{key: getattr(self, key) for key in Layout.model_fields})


class Policy:
    """A deterministic policy.

    Args:
        header: what its numbers mean.
        mean: (n,) of observations.
        deviation: (n,) of observations.
        weights: (in, out) of every layer.
        biases: (out,) of every layer.
        source: for errors.

    Attributes:
        header: as given.
        mean: as given, float32; so are the other arrays.
        deviation: as given.
        weights: as given.
        biases: as given.
        source: as given.

    Raises:
        BadInput: arrays do not fit together, or with the header, or not all are finite.
    """

    def __init__(
        self,
        header: Header,
        mean: ArrayLike,
        deviation: ArrayLike,
        weights: Sequence[ArrayLike],
        biases: Sequence[ArrayLike],
        *,
        source: str = "policy",
    ) -> None:
        self.header, self.source = header, source
        self.mean, self.deviation = _single(mean), _single(deviation)
        self.weights = [_single(each) for each in weights]
        self.biases = [_single(each) for each in biases]
        self._check_shapes()
        self._check_numbers()
        self._network = Network.of(self.mean, self.deviation, self.weights, self.biases)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a policy.

        Args:
            path: of its file, or the name of one that ships with the suite.

        Raises:
            BadInput: there is no such policy, or it cannot be used.
        """
        file = policy_file(path)
        arrays = _arrays(file)
        header = validate(Header, _header(arrays, file), source=f"{file}: header")
        missing = [each for each in ("mean", "deviation", "weights_0") if each not in arrays]
        if missing:
            raise BadInput(f"{file}: array '{missing[0]}' is missing")
        weights, biases = (_numbered(arrays, name, file) for name in ("weights", "biases"))
        return cls(header, arrays["mean"], arrays["deviation"], weights, biases, source=str(file))

    def save(self, path: str | Path) -> None:
        """Write the file; equal policies give equal bytes.

        Raises:
            BadInput: the path does not end in .npz.
        """
        if Path(path).suffix != SUFFIX:
            raise BadInput(f"{path}: a policy's file ends in {SUFFIX}")
        Path(path).write_bytes(self._bytes)

    def __call__(self, observation: ArrayLike) -> Numbers:
        """Action (size,) or actions (B, size) at an observation (n,) or (B, n), in [-1, 1].

        A row of a batch has the same bits as alone. Where an observation is no number, so is an action.
        """
        seen = np.ascontiguousarray(observation, np.float32)
        return self._network(seen) if seen.ndim == 2 else self._network(seen[None])[0]

    @property
    def size(self) -> int:
        """Numbers of an action."""
        return len(self.biases[-1])

    @property
    def name(self) -> str:
        """Its file's name, without the ending."""
        return Path(self.source).stem

    @property
    def digest(self) -> str:
        """SHA-256 of the file, in hexadecimal."""
        return hashlib.sha256(self._bytes).hexdigest()

    def check(self, needed: Layout, wanted: str) -> None:
        """Refuse to fly where numbers mean something else.

        Args:
            needed: what they have to mean.
            wanted: whose layout that is, for the error.

        Raises:
            BadInput: naming the first key that differs.
        """
        self.header.layout.check(needed, self.source, wanted)

    @property
    def _bytes(self) -> bytes:
        text = json.dumps(self.header.model_dump(mode="json"))
        buffer = io.BytesIO()
        np.savez(buffer, header=np.array(text), **self._named)  # type: ignore[arg-type] # of no other keys
        return buffer.getvalue()

    def _check_shapes(self) -> None:
        outputs = [len(each) if each.ndim == 1 else -1 for each in self.biases]
        wanted: dict[str, tuple[int, ...]] = {"mean": (self.header.size,)}
        wanted["deviation"] = wanted["mean"]
        sizes = [self.header.size, *outputs[:-1], len(self.header.action.low)]
        for i in range(len(self.weights)):
            wanted[f"weights_{i}"] = (sizes[i], sizes[i + 1])
            wanted[f"biases_{i}"] = (sizes[i + 1],)
        for name, array in self._named.items():
            if array.shape != wanted[name]:
                raise BadInput(
                    f"{self.source}: array '{name}': has shape {array.shape}; {wanted[name]} is expected"
                )

    def _check_numbers(self) -> None:
        for name, array in self._named.items():
            if not np.isfinite(array).all():
                raise BadInput(f"{self.source}: array '{name}': not all numbers are finite")
        if not (self.deviation > 0.0).all():
            raise BadInput(f"{self.source}: array 'deviation': not all numbers are above 0")

    @property
    def _named(self) -> Mapping[str, Numbers]:
        """Arrays by their names in the file."""
        named = {"mean": self.mean, "deviation": self.deviation}
        for i, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            named[f"weights_{i}"], named[f"biases_{i}"] = weight, bias
        return named


def policy_file(name: str | Path) -> Path:
    """The file of a policy, by its path or by the name of one that ships with the suite.

    Raises:
        BadInput: there is none.
    """
    path = Path(name)
    shipped = SHIPPED / f"{path.name}{SUFFIX}"
    if path.suffix != SUFFIX and str(path) == path.name and shipped.is_file():
        return shipped
    if path.suffix != SUFFIX or not path.is_file():
        there = ", ".join(shipped_policies()) or "none"
        raise BadInput(f"no policy '{name}': choose {there}, or the path of a {SUFFIX} file")
    return path


def shipped_policies() -> list[str]:
    """Names of the policies that ship with the suite."""
    return sorted(path.stem for path in SHIPPED.glob(f"*{SUFFIX}"))


def _single(values: ArrayLike) -> Numbers:
    return np.ascontiguousarray(values, np.float32)


def _arrays(file: Path) -> dict[str, np.ndarray]:
    try:  # NumPy leaves a file open that it opened itself and cannot read
        with file.open("rb") as opened, np.load(opened, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise BadInput(f"{file}: not a policy's file, or damaged: {error}") from error


def _header(arrays: Mapping[str, np.ndarray], file: Path) -> Any:  # noqa: ANN401 - JSON
    if "header" not in arrays:
        raise BadInput(f"{file}: array 'header' is missing")
    try:
        return json.loads(str(arrays["header"]))
    except ValueError as error:
        raise BadInput(f"{file}: header: not JSON: {error}") from error


def _numbered(arrays: Mapping[str, np.ndarray], name: str, file: Path) -> list[np.ndarray]:
    """Arrays NAME_0, NAME_1, ... of all layers."""
    count = sum(key.startswith("weights_") for key in arrays)
    missing = [f"{name}_{i}" for i in range(count) if f"{name}_{i}" not in arrays]
    if missing:
        raise BadInput(f"{file}: array '{missing[0]}' is missing")
    return [arrays[f"{name}_{i}"] for i in range(count)]
