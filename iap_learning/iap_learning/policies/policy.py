# SPDX-License-Identifier: BSD-3-Clause
"""A policy: one ``.npz`` file of weights and of what its numbers mean, see `Header`.

Arrays are float32: `mean` and `deviation` (n,) of observations, `weights_I` (in, out) and `biases_I` (out,) of layer I
of the perceptron, and `block_I_NAME` of the blocks before it.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from iap_description.config.alternatives import alternatives
from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_io.runs.run_folder import write_file
from iap_learning.policies.array_file import array_file_bytes, read_array_file
from iap_learning.policies.layout import Header, Layout
from iap_learning.policies.perceptron import Network, Numbers

SHIPPED = Path(__file__).parents[1] / "data" / "policies"
SUFFIX = ".npz"
NO_MEMORY = np.zeros((1, 0), np.float32)


class Policy:
    """A deterministic policy.

    Args:
        header: what its numbers mean.
        mean: (n,) of observations.
        deviation: (n,) of observations.
        weights: (in, out) of every layer.
        biases: (out,) of every layer.
        blocks: arrays of every block of the header, by their names.
        source: for errors.

    Attributes:
        header, mean, deviation, weights, biases, blocks, source: the same; arrays are float32.

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
        blocks: Sequence[Mapping[str, ArrayLike]] = (),
        source: str = "policy",
    ) -> None:
        self.header, self.source = header, source
        self.mean, self.deviation = _single(mean), _single(deviation)
        self.weights = [_single(each) for each in weights]
        self.biases = [_single(each) for each in biases]
        self.blocks = [{name: _single(each) for name, each in part.items()} for part in blocks]
        self._check_shapes()
        self._check_numbers()
        if header.blocks:
            none = np.zeros(header.features, np.float32)
            self._network = Network.of(none, none + 1.0, self.weights, self.biases)
        else:
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
        parts = [[f"block_{i}_{name}" for name in each] for i, each in enumerate(header.shapes)]
        keys = ("mean", "deviation", *weights, *biases, *(key for part in parts for key in part))
        missing = [key for key in keys if key not in arrays]
        if missing:
            raise BadInput(f"{file}: array '{missing[0]}' is missing")
        mean, deviation = arrays["mean"], arrays["deviation"]
        numbers = ([arrays[key] for key in keys] for keys in (weights, biases))
        blocks = [
            {name: arrays[f"block_{i}_{name}"] for name in each}
            for i, each in enumerate(header.shapes)
        ]
        return cls(header, mean, deviation, *numbers, blocks=blocks, source=str(file))

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

        Raises:
            BadInput: the policy has a memory: `acting` keeps one.
        """
        if self.memory:
            raise BadInput(f"{self.source}: has a memory: Policy.acting(worlds) keeps it")
        return self.act(np.ascontiguousarray(observation, np.float32), NO_MEMORY)

    def act(self, observations: Numbers, memory: Numbers) -> Numbers:
        """Actions as of a call, with the memories (B, m) of flights, which are written."""
        if observations.ndim == 1:
            return self.act(observations[None], memory)[0]
        if not self.header.blocks:
            return self._network(observations)
        x, first = (observations - self.mean) / self.deviation, 0
        for block, arrays in zip(self.header.blocks, self.blocks, strict=True):
            end = first + block.memory
            kept = np.ascontiguousarray(memory[:, first:end])
            x = block.run(arrays, x, kept)
            memory[:, first:end], first = kept, end
        return self._network(np.ascontiguousarray(x))

    def acting(self, worlds: int = 1) -> Callable[[ArrayLike], Numbers]:
        """The policy in flights at their start: observations (B, n), or (n,) of one, to actions, once in every step."""
        return PolicyFlight(self, worlds) if self.memory else self

    @property
    def memory(self) -> int:
        """Numbers that it remembers from one step to the next."""
        return sum(block.memory for block in self.header.blocks)

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

    def check(self, needed: Layout, owner: str) -> None:
        """Refuse to fly where numbers mean something else.

        Args:
            needed: what they have to mean.
            owner: whose layout that is, for the error.

        Raises:
            BadInput: naming the first key that differs.
        """
        self.header.layout.check(needed, self.source, owner)

    @property
    def _bytes(self) -> bytes:
        text = json.dumps(self.header.model_dump(mode="json"))
        return array_file_bytes(text, self._named)

    def _check_shapes(self) -> None:
        outputs = [len(each) if each.ndim == 1 else -1 for each in self.biases]
        expected: dict[str, tuple[int, ...]] = {"mean": (self.header.size,)}
        expected["deviation"] = expected["mean"]
        sizes = [self.header.features, *outputs[:-1], len(self.header.action.low)]
        for i in range(len(self.weights)):
            expected[f"weights_{i}"] = (sizes[i], sizes[i + 1])
            expected[f"biases_{i}"] = (sizes[i + 1],)
        for i, shapes in enumerate(self.header.shapes):
            expected |= {f"block_{i}_{name}": shape for name, shape in shapes.items()}
        odd = sorted(set(expected) ^ set(self._named))
        if odd:
            raise BadInput(
                f"{self.source}: array '{odd[0]}': the blocks of the header have other ones"
            )
        for name, array in self._named.items():
            if array.shape != expected[name]:
                raise BadInput(
                    f"{self.source}: array '{name}': has shape {array.shape}; {expected[name]} is expected"
                )

    def _check_numbers(self) -> None:
        for name, array in self._named.items():
            if not np.isfinite(array).all():
                raise BadInput(f"{self.source}: array '{name}': not all numbers are finite")
        if not (self.deviation > 0.0).all():
            raise BadInput(f"{self.source}: array 'deviation': not all numbers are above 0")

    @property
    def _named(self) -> dict[str, Numbers]:
        """Arrays by their names in the file."""
        named: dict[str, Any] = {"mean": self.mean, "deviation": self.deviation}
        for i, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            named[f"weights_{i}"], named[f"biases_{i}"] = weight, bias
        for i, part in enumerate(self.blocks):
            named |= {f"block_{i}_{name}": array for name, array in part.items()}
        return named


class PolicyFlight:
    """A policy with a memory in B flights at their start.

    Args:
        policy: that flies.
        worlds: B.

    Attributes:
        memory: (B, m) so far.
    """

    def __init__(self, policy: Policy, worlds: int) -> None:
        self._policy, self.memory = policy, np.zeros((worlds, policy.memory), np.float32)

    def __call__(self, observation: ArrayLike) -> Numbers:
        """Actions (B, size) at observations (B, n), or (size,) at one (n,)."""
        return self._policy.act(np.ascontiguousarray(observation, np.float32), self.memory)

    def begin(self, worlds: ArrayLike) -> None:
        """Forget the flights of some worlds, their indices or a mask (B,)."""
        self.memory[np.asarray(worlds)] = 0.0


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
