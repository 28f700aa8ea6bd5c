# SPDX-License-Identifier: BSD-3-Clause
r"""Convolutions over the image that ends an observation; what stands before it passes by.

.. math::
    y_{c, u, v} = \max\Bigl(0,\ b_c + \sum_{d, i, j} K_{c d i j}\, x_{d,\, s u + i,\, s v + j}\Bigr)

Layer after layer, each with stride s and without padding, as in PyTorch and ONNX. The features follow the numbers that
passed by, channel after channel, row by row.
"""

import math
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray
from pydantic import Field, model_validator

from iap_description.config.record import Record
from iap_description.config.values import Count
from iap_learning.policies.blocks.block import Arrays, CCall, OnnxGraph


class Convolution(Record):
    """Numbers of the layers.

    Attributes:
        kind: of block.
        image: rows and columns of the image.
        channels: after each layer.
        kernel: rows and columns of all kernels.
        stride: of all layers.
    """

    kind: Literal["convolution"]
    image: tuple[Count, Count]
    channels: Annotated[tuple[Count, ...], Field(min_length=1)]
    kernel: Count
    stride: Count

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if min(min(shape[1:]) for shape in self._images()) < 1:
            rows, columns = self.image
            raise ValueError(
                f"key 'kernel': an image of {rows} x {columns} is too small for {len(self.channels)} layers"
                f" of {self.kernel} x {self.kernel} and stride {self.stride}"
            )
        return self

    def _images(self) -> list[tuple[int, int, int]]:
        """Channels, rows and columns before the first layer and after each."""
        images = [(1, *self.image)]
        for channels in self.channels:
            rows, columns = ((each - self.kernel) // self.stride + 1 for each in images[-1][1:])
            images.append((channels, rows, columns))
        return images

    @property
    def _pixels(self) -> int:
        return math.prod(self.image)

    @property
    def memory(self) -> int:
        """Numbers of its memory: none."""
        return 0

    def outputs(self, inputs: int) -> int:
        """Numbers after it.

        Raises:
            ValueError: the image has more pixels than there are inputs.
        """
        if inputs < self._pixels:
            rows, columns = self.image
            raise ValueError(f"key 'image': {rows} x {columns} pixels of {inputs} numbers")
        return inputs - self._pixels + math.prod(self._images()[-1])

    def shapes(self, inputs: int) -> dict[str, tuple[int, ...]]:  # noqa: ARG002 - of other blocks
        """Shapes of its arrays: kernels and biases of every layer."""
        shapes: dict[str, tuple[int, ...]] = {}
        before = 1
        for i, channels in enumerate(self.channels):
            shapes[f"kernels_{i}"] = (channels, before, self.kernel, self.kernel)
            shapes[f"biases_{i}"] = (channels,)
            before = channels
        return shapes

    def widest(self, inputs: int) -> int:
        """Most numbers that lie in one buffer."""
        return inputs - self._pixels + max(math.prod(each) for each in self._images())

    def run(self, arrays: Arrays, x: NDArray[Any], memory: NDArray[Any]) -> NDArray[Any]:  # noqa: ARG002
        """See `iap_learning.policies.blocks.block.Block`."""
        first, images = x.shape[1] - self._pixels, self._images()
        image = np.ascontiguousarray(x[:, first:]).reshape(len(x), *images[0])
        for i, shape in enumerate(images[1:]):
            out = np.empty((len(x), *shape), image.dtype)
            _convolve(image, arrays[f"kernels_{i}"], arrays[f"biases_{i}"], self.stride, out)
            image = out
        return np.hstack([x[:, :first], image.reshape(len(x), -1)])

    def add_to_onnx(
        self,
        graph: OnnxGraph,
        arrays: Arrays,
        x: str,
        memory: str,  # noqa: ARG002 - of other blocks
    ) -> tuple[str, str | None]:
        """See `iap_learning.policies.blocks.block.Block`."""
        ends, axis = (graph.constant(np.array([each], np.int64)) for each in (2**62, 1))
        start, middle = (graph.constant(np.array([k], np.int64)) for k in (0, -self._pixels))
        rest = graph.node("Slice", x, start, middle, axis)
        image = graph.node("Slice", x, middle, ends, axis)
        shape = graph.constant(np.array([-1, *self._images()[0]], np.int64))
        image = graph.node("Reshape", image, shape)
        for i in range(len(self.channels)):
            parts = (graph.constant(arrays[f"{name}_{i}"]) for name in ("kernels", "biases"))
            strides = [self.stride, self.stride]
            image = graph.node("Relu", graph.node("Conv", image, *parts, strides=strides))
        features = graph.node("Flatten", image, axis=1)
        return graph.node("Concat", rest, features, axis=1), None

    def c_arrays(self, arrays: Arrays) -> dict[str, NDArray[Any]]:
        """As they are."""
        return dict(arrays)

    def c_function(self) -> str:
        """Text of the C function that computes it."""
        return C_FUNCTION

    def c_call(self, call: CCall) -> tuple[Iterator[str], str]:
        """Lines that call it, and the buffer that holds its outputs then."""
        first, (before, after) = call.inputs - self._pixels, (call.before, call.after)
        lines, images = [], self._images()
        for i, (source, shape) in enumerate(zip(images, images[1:], strict=False)):
            arrays = f"{call.prefix}_kernels_{i}, {call.prefix}_biases_{i}"
            sizes = ", ".join(map(str, (*source, shape[0], self.kernel, self.stride)))
            lines.append(
                f"    policy_convolve({arrays}, {before} + {first}, {after} + {first}, {sizes});"
            )
            before, after = after, before
        if before != call.before and first:
            lines += [
                f"    for (int i = 0; i < {first}; i++)",
                f"        {before}[i] = {call.before}[i];",
            ]
        return iter(lines), before


@njit(cache=True)
def _convolve(
    images: NDArray[Any],
    kernels: NDArray[Any],
    biases: NDArray[Any],
    stride: int,
    out: NDArray[Any],
) -> None:
    """Write the images (B, channels, rows, columns) after a layer."""
    channels, depth, size, _ = kernels.shape
    for b in range(len(out)):
        for c in range(channels):
            for u in range(out.shape[2]):
                for v in range(out.shape[3]):
                    total = biases[c]
                    for d in range(depth):
                        for i in range(size):
                            for j in range(size):
                                pixel = images[b, d, stride * u + i, stride * v + j]
                                total += kernels[c, d, i, j] * pixel
                    out[b, c, u, v] = 0.0 if total < 0.0 else total  # NaN stays


C_FUNCTION = """
/* A layer of convolutions with rectified outputs, channel after channel, row by row. */
static inline void policy_convolve(const float *kernels, const float *biases, const float *in, float *out, int depth,
                                   int rows, int columns, int channels, int kernel, int stride)
{
    int high = (rows - kernel) / stride + 1, wide = (columns - kernel) / stride + 1;
    for (int c = 0; c < channels; c++)
        for (int u = 0; u < high; u++)
            for (int v = 0; v < wide; v++) {
                float sum = biases[c];
                for (int d = 0; d < depth; d++)
                    for (int i = 0; i < kernel; i++)
                        for (int j = 0; j < kernel; j++)
                            sum += kernels[((c * depth + d) * kernel + i) * kernel + j]
                                   * in[(d * rows + stride * u + i) * columns + stride * v + j];
                out[(c * high + u) * wide + v] = sum < 0.0f ? 0.0f : sum; /* NaN stays */
            }
}
"""
