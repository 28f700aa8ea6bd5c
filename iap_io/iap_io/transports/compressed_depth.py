# SPDX-License-Identifier: BSD-3-Clause
"""Depth as quantised inverse depth in PNG, behind a header of 12 bytes."""

import struct
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from iap_io.bags.bag_writer import Buffer
from iap_io.bags.png import Pixels, pixels_of, png
from iap_io.transports.transport import LEVELS_16, METRES, FileTransport

# Of compressed_depth_image_transport: the first is its default, the second the most that it allows.
QUANTIZATION, MAX_DEPTH = 100.0, 100.0  # [m]
HEADER = struct.Struct("<iff")  # ConfigHeader of compression_common.h: INV_DEPTH = 0, depthParam
MAX_STEPS = 65535
WORD = "compressedDepth"


@dataclass(frozen=True)
class CompressedDepth(FileTransport):
    """PNG of compressed_depth_image_transport (``codec.cpp``, ``encodeCompressedDepthImage``).

    A depth z [m] becomes n = floor(A / z + B), with A = z0 (z0 + 1) and B = 1 - A / z_max; 0 says that there is none.
    The way back is z' = A / (n - B), so z <= z' and z' - z <= z z' / A: 2.5 mm at 5 m with z0 = 100 m.
    What is nearer than A / (65535 - B), 15 cm, is read as that. What is farther than z_max, and +Inf, is read as NaN.

    Images of 16 bits, which that plugin takes for millimetres, are in the PNG as they are.

    Attributes:
        quantization: z0, the depth at which one step of n is 1 m [m].
        max_depth: z_max [m].
    """

    quantization: float = QUANTIZATION
    max_depth: float = MAX_DEPTH
    suffix: ClassVar = f"/{WORD}"
    share: ClassVar = 0.15

    def takes(self, encoding: str) -> bool:
        """True for depth [m], and for numbers of 16 bits."""
        return encoding == METRES or encoding in LEVELS_16

    def format(self, encoding: str) -> str:
        """The message's field ``format``."""
        return f"{encoding}; {WORD} png"

    def pack(self, pixels: Pixels) -> Buffer:
        """The header and the file."""
        z0, far = np.float32(self.quantization), np.float32(self.max_depth)
        A = z0 * (z0 + np.float32(1.0))
        B = np.float32(1.0) - A / far
        header = HEADER.pack(0, A, B)
        if pixels.dtype == np.uint16:
            return header + png(pixels)
        is_depth = (pixels > 0.0) & (pixels < far)
        inverse = A / np.where(is_depth, pixels, far) + B
        steps = np.clip(inverse, 1.0, MAX_STEPS).astype(np.uint16)
        return header + png(np.where(is_depth, steps, np.uint16(0)))

    def unpack(self, encoding: str, data: Buffer) -> Pixels:
        """The image, see `iap_io.transports.transport.FileTransport.unpack`."""
        if len(data) <= HEADER.size:
            raise ValueError(f"{WORD} of {len(data)} bytes, which has a header of {HEADER.size}")
        steps = pixels_of(data[HEADER.size :])
        if steps.dtype != np.uint16 or steps.ndim != 2:
            raise ValueError(f"{WORD} with a file of {steps.dtype}, not of one channel of 16 bits")
        if encoding != METRES:
            return steps
        _, A, B = HEADER.unpack_from(data)
        if not (0.0 < A < np.inf and -np.inf < B < 1.0):
            raise ValueError(f"{WORD} with quantisation {A}, {B}")
        depth = np.float32(A) / (steps.astype(np.float32) - np.float32(B))
        return np.where(steps > 0, depth, np.float32(np.nan))
