# SPDX-License-Identifier: BSD-3-Clause
r"""A gated recurrent unit (Cho et al., EMNLP 2014, arXiv:1406.1078), whose reset gate acts behind the product.

.. math::
    r &= \sigma(x W_r + b_r + h U_r + c_r), \quad z = \sigma(x W_z + b_z + h U_z + c_z) \\
    n &= \tanh\bigl(x W_n + b_n + r \odot (h U_n + c_n)\bigr), \quad h' = (1 - z) \odot n + z \odot h

The gates stand in the order r, z, n in all arrays, as in PyTorch and cuDNN.
"""

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numba import njit
from numpy.typing import NDArray

from iap_description.config.record import Record
from iap_description.config.values import Count
from iap_learning.policies.blocks.block import Arrays, CCall, OnnxGraph

GATES = 3


class Gru(Record):
    """Numbers of the unit.

    Attributes:
        kind: of block.
        size: numbers of its memory, which are its outputs.
    """

    kind: Literal["gru"]
    size: Count

    @property
    def memory(self) -> int:
        """Numbers of its memory."""
        return self.size

    def outputs(self, inputs: int) -> int:  # noqa: ARG002 - of other blocks
        """Numbers after it."""
        return self.size

    def shapes(self, inputs: int) -> dict[str, tuple[int, ...]]:
        """Shapes of its arrays: W, U, and b above c."""
        gates = GATES * self.size
        return {"inputs": (inputs, gates), "memory": (self.size, gates), "biases": (2, gates)}

    def widest(self, inputs: int) -> int:
        """Most numbers that lie in one buffer: both sums of all gates."""
        return max(inputs, 2 * GATES * self.size)

    def run(self, arrays: Arrays, x: NDArray[Any], memory: NDArray[Any]) -> NDArray[Any]:
        """See `iap_learning.policies.blocks.block.Block`."""
        _step(x, arrays["inputs"], arrays["memory"], arrays["biases"], memory)
        return memory.copy()

    def add_to_onnx(
        self, graph: OnnxGraph, arrays: Arrays, x: str, memory: str
    ) -> tuple[str, str | None]:
        """See `iap_learning.policies.blocks.block.Block`."""
        of_x, of_h = (
            [
                graph.node("Gemm", source, graph.constant(W), graph.constant(b))
                for W, b in zip(
                    np.split(arrays[name], GATES, axis=1),
                    np.split(arrays["biases"][row], GATES),
                    strict=True,
                )
            ]
            for row, (name, source) in enumerate((("inputs", x), ("memory", memory)))
        )
        reset, update = (
            graph.node("Sigmoid", graph.node("Add", of_x[k], of_h[k])) for k in range(2)
        )
        new = graph.node("Tanh", graph.node("Add", of_x[2], graph.node("Mul", reset, of_h[2])))
        # n + z (h - n)
        change = graph.node("Mul", update, graph.node("Sub", memory, new))
        out = graph.node("Add", new, change)
        return out, out

    def c_arrays(self, arrays: Arrays) -> dict[str, NDArray[Any]]:
        """Weights output by output."""
        return {
            "inputs": arrays["inputs"].T,
            "memory": arrays["memory"].T,
            "biases": arrays["biases"],
        }

    def c_function(self) -> str:
        """Text of the C function that computes it."""
        return C_FUNCTION

    def c_call(self, call: CCall) -> tuple[Iterator[str], str]:
        """Lines that call it, and the buffer that holds its outputs then."""
        p, h = call.prefix, f"state->memory + {call.memory}"
        names = ", ".join(f"{p}_{name}" for name in ("inputs", "memory", "biases"))
        lines = (
            f"    policy_gru({names}, {call.before}, {h}, {call.after}, {call.inputs}, {self.size});",
            f"    for (int i = 0; i < {self.size}; i++)",
            f"        {call.after}[i] = ({h})[i];",
        )
        return iter(lines), call.after


@njit(cache=True)
def _step(
    x: NDArray[Any], W: NDArray[Any], U: NDArray[Any], biases: NDArray[Any], memory: NDArray[Any]
) -> None:
    """Write the next memories (B, n)."""
    n = memory.shape[1]
    of_x, of_h = np.empty(3 * n, memory.dtype), np.empty(3 * n, memory.dtype)
    for b in range(len(x)):
        of_x[:], of_h[:] = biases[0], biases[1]
        for i in range(x.shape[1]):
            for j in range(3 * n):
                of_x[j] += x[b, i] * W[i, j]
        for i in range(n):
            for j in range(3 * n):
                of_h[j] += memory[b, i] * U[i, j]
        for j in range(n):
            reset = 1.0 / (1.0 + np.exp(-(of_x[j] + of_h[j])))
            update = 1.0 / (1.0 + np.exp(-(of_x[n + j] + of_h[n + j])))
            new = np.tanh(of_x[2 * n + j] + reset * of_h[2 * n + j])
            memory[b, j] = new + update * (memory[b, j] - new)


C_FUNCTION = """
/* A gated recurrent unit; `work` takes 6 * size numbers. */
static inline void policy_gru(const float *weights, const float *recurrent, const float *biases, const float *in,
                              float *memory, float *work, int inputs, int size)
{
    for (int j = 0; j < 3 * size; j++) {
        float sum = biases[j], past = biases[3 * size + j];
        for (int i = 0; i < inputs; i++)
            sum += weights[j * inputs + i] * in[i];
        for (int i = 0; i < size; i++)
            past += recurrent[j * size + i] * memory[i];
        work[j] = sum;
        work[3 * size + j] = past;
    }
    for (int j = 0; j < size; j++) {
        float reset = 1.0f / (1.0f + expf(-(work[j] + work[3 * size + j])));
        float update = 1.0f / (1.0f + expf(-(work[size + j] + work[4 * size + j])));
        float next = tanhf(work[2 * size + j] + reset * work[5 * size + j]);
        memory[j] = next + update * (memory[j] - next);
    }
}
"""
