# SPDX-License-Identifier: BSD-3-Clause
"""A policy: one ``.npz`` file of weights and of what its numbers mean, see `Header`.

Arrays are float32: `mean` and `deviation` (n,) of observations, `weights_I` (in, out) and `biases_I` (out,) of layer I.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from iap_description.arrays import Integers
from iap_description.config.alternatives import alternatives
from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_io.runs.run_folder import write_file
from iap_learning.policies.array_file import array_file_bytes, read_array_file
from iap_learning.policies.layout import Header, Layout

Numbers = NDArray[np.float32]


class Network(NamedTuple):
    r"""A multilayer perceptron: weights and biases in one array, as the compiled loop takes them.

    .. math::
        h_0 = (o - \mu) / \sigma, \qquad h_{i+1} = \tanh(h_i W_i + b_i), \qquad
        a = \mathrm{clip}(h_k W_k + b_k, -1, 1)

    A row has the same bits in every batch. A product of matrices by BLAS rounds a row as the number of rows and the
    processor want it; these loops do not.

    Attributes:
        mean: (n,) of observations.
        deviation: (n,) of observations.
        sizes: numbers before the first layer and after each.
        numbers: of one layer after the other, its weights row by row and its biases.
    """

    mean: Numbers
    deviation: Numbers
    sizes: Integers
    numbers: Numbers

    @classmethod
    def of(
        cls,
        mean: Numbers,
        deviation: Numbers,
        weights: Sequence[Numbers],
        biases: Sequence[Numbers],
    ) -> Self:
        """The network of weights (in, out) and biases (out,) of all layers."""
        parts = [
            part
            for pair in zip(weights, biases, strict=True)
            for part in (pair[0].ravel(), pair[1])
        ]
        sizes = [len(mean), *(len(each) for each in biases)]
        return cls(mean, deviation, np.array(sizes, dtype=np.int64), np.concatenate(parts))

    def __call__(self, observations: Numbers) -> Numbers:
        """Actions (B, size) at observations (B, n)."""
        actions = np.empty((len(observations), self.sizes[-1]), np.float32)
        evaluate(observations, *self, actions)
        return actions


@njit(cache=True)
def evaluate(
    observations: Numbers,
    mean: Numbers,
    deviation: Numbers,
    sizes: Integers,
    numbers: Numbers,
    actions: Numbers,
) -> None:
    """Write actions (B, size) at observations (B, n); the rest is `Network`."""
    before, after = np.empty((2, sizes.max()), np.float32)
    for b in range(len(observations)):
        for i in range(sizes[0]):
            before[i] = (observations[b, i] - mean[i]) / deviation[i]
        first = 0
        for layer in range(len(sizes) - 1):
            rows, columns = sizes[layer], sizes[layer + 1]
            _add_layer(before[:rows], numbers[first:], after[:columns])
            if layer < len(sizes) - 2:
                _bend(after[:columns])
            first += (rows + 1) * columns
            before, after = after, before
        _clip(before, actions[b])


@njit(cache=True)
def _add_layer(before: Numbers, numbers: Numbers, after: Numbers) -> None:
    rows, columns = len(before), len(after)
    for j in range(columns):
        after[j] = numbers[rows * columns + j]
    for i in range(rows):
        for j in range(columns):
            after[j] += before[i] * numbers[i * columns + j]


@njit(cache=True)
def _bend(values: Numbers) -> None:
    for j in range(len(values)):
        values[j] = np.tanh(values[j])


@njit(cache=True)
def _clip(values: Numbers, out: Numbers) -> None:
    """Write values within [-1, 1]; what is no number stays none, so that whoever flies it sees it."""
    for j in range(len(out)):
        out[j] = 1.0 if values[j] > 1.0 else -1.0 if values[j] < -1.0 else values[j]


SHIPPED = Path(__file__).parents[1] / "data" / "policies"
SUFFIX = ".npz"


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
        header, mean, deviation, weights, biases, source: the same; arrays are float32.

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
        tree, arrays = read_array_file(file, "a policy's file")
        header = validate(Header, tree, source=f"{file}: header")
        layers = range(max(1, sum(key.startswith("weights_") for key in arrays)))
        weights, biases = ([f"{kind}_{i}" for i in layers] for kind in ("weights", "biases"))
        missing = [key for key in ("mean", "deviation", *weights, *biases) if key not in arrays]
        if missing:
            raise BadInput(f"{file}: array '{missing[0]}' is missing")
        mean, deviation = arrays["mean"], arrays["deviation"]
        numbers = ([arrays[key] for key in keys] for keys in (weights, biases))
        return cls(header, mean, deviation, *numbers, source=str(file))

    def save(self, path: str | Path) -> None:
        """Write the file; equal policies give equal bytes.

        Raises:
            BadInput: the path does not end in .npz.
            RecordingFailed: it cannot be written.
        """
        if Path(path).suffix != SUFFIX:
            raise BadInput(f"{path}: a policy's file ends in {SUFFIX}")
        write_file(Path(path), self._bytes)

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
        return array_file_bytes(text, self._named)

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
        if path.suffix == SUFFIX:
            raise BadInput(f"{name}: no such file")
        there = alternatives(str(name), shipped_policies())
        raise BadInput(f"no policy '{name}': {there} (or the path of a {SUFFIX} file)")
    return path


def shipped_policies() -> list[str]:
    """Names of the policies that ship with the suite."""
    return sorted(path.stem for path in SHIPPED.glob(f"*{SUFFIX}"))


def _single(values: ArrayLike) -> Numbers:
    with np.errstate(
        over="ignore"
    ):  # what becomes infinite is refused with all that is not finite
        return np.ascontiguousarray(values, np.float32)
