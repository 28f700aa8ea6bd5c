# SPDX-License-Identifier: BSD-3-Clause
"""A block of a policy, as files, flights, ONNX and C take it; `table` has the kinds."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from numpy.typing import NDArray

Arrays = Mapping[str, NDArray[Any]]  # of one block, by their names in its `shapes`


class OnnxGraph(Protocol):
    """An ONNX graph that grows."""

    def constant(self, values: Any) -> str:  # noqa: ANN401 - an array
        """Name of a constant."""

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:  # noqa: ANN401 - of ONNX
        """Name of the result of an operator."""


class CCall(NamedTuple):
    """Place of a block in ``policy_act``.

    Attributes:
        prefix: of the names of its arrays.
        inputs: numbers before it.
        before: buffer that holds them.
        after: the other buffer.
        memory: where its memory begins in the state's.
    """

    prefix: str
    inputs: int
    before: str
    after: str
    memory: int


class Block(Protocol):
    """A block: n numbers in, others out, with a memory of m numbers that is zero at a flight's start."""

    @property
    def memory(self) -> int:
        """Numbers of its memory, m."""

    def outputs(self, inputs: int) -> int:
        """Numbers after it.

        Raises:
            ValueError: it does not take so many inputs.
        """

    def shapes(self, inputs: int) -> dict[str, tuple[int, ...]]:
        """Shapes of its arrays."""

    def widest(self, inputs: int) -> int:
        """Most numbers that lie in one buffer while it runs."""

    def run(self, arrays: Arrays, x: NDArray[Any], memory: NDArray[Any]) -> NDArray[Any]:
        """Outputs (B, k) of inputs (B, n), in the arrays' precision; the memory (B, m) is written.

        A row has the same bits in every batch.
        """

    def add_to_onnx(
        self, graph: OnnxGraph, arrays: Arrays, x: str, memory: str
    ) -> tuple[str, str | None]:
        """Names of its outputs and of its next memory; None where it has none."""

    def c_arrays(self, arrays: Arrays) -> dict[str, NDArray[Any]]:
        """Its arrays in the order in which C reads them."""

    def c_function(self) -> str:
        """Text of the C function that computes it."""

    def c_call(self, call: CCall) -> tuple[Iterator[str], str]:
        """Lines that call it, and the buffer that holds its outputs then."""
