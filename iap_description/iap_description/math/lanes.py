# SPDX-License-Identifier: BSD-3-Clause
"""Blocks of worlds, a row for each quantity and a lane for each world, and how compiled loops read and write them.

A block is one flat array. A loop over its lanes becomes vector instructions of a processor as long as all rows that it
touches are at distances that the compiler knows. On a graphics card each thread has one lane of it, and the 32 threads
that run in step have the 32 lanes.
"""

from typing import Literal

import numpy as np

from iap_description.arrays import Array
from iap_description.math.kernels import Mat, Quat, Six, Vec, formula

Index = (
    np.uint64 | int
)  # unsigned where it is compiled: a signed one may count from the end, and nothing becomes a vector
Lanes = tuple[Index, Index]  # the first lane, and the one behind the last, that a loop is about
Precision = Literal["float64", "float32"]
DOUBLE: Precision = "float64"
LANES = 32  # most worlds of a block
VECTOR = 8  # worlds by which a block grows
LINE = 64  # bytes of a cache line


def zero_blocks(worlds: int, rows: int, precision: Precision = DOUBLE) -> Array:
    """Blocks of zeros for so many worlds, (blocks, rows * LANES).

    They begin at a cache line: a vector that lies in two takes longer to read and to write, in all a twentieth of a
    step.
    """
    shape = (-(-worlds // LANES), rows * LANES)
    size = shape[0] * shape[1] * np.dtype(precision).itemsize
    room = np.zeros(size + LINE, np.uint8)
    first = -room.ctypes.data % LINE
    return room[first : first + size].view(precision).reshape(shape)


@formula
def lanes_from(first: int, end: int) -> Lanes:
    """Lanes of worlds `first` to `end` - 1, as far as they are in one block, counted from that of `first`.

    They are whole vectors: those that the last world does not fill have no world. Blocks (blocks, rows * LANES) begin
    with the lane of `first` in ``blocks[first // LANES, first % LANES :]``.
    """
    count = min(end - first, LANES - first % LANES)
    return (np.uint64(0), np.uint64(-(-count // VECTOR) * VECTOR))


@formula
def next_block(first: int) -> int:
    """First world of the block behind a world's."""
    return (first // LANES + 1) * LANES


@formula
def world_in(first: int, lane: Index) -> int:
    """The world that a lane has in a block whose first one is `first`; behind the last world there is none."""
    return int(first + np.int64(lane))


@formula
def world_at(first: int, lane: Index, worlds: int) -> int:
    """The world that a lane has in a block whose first one is `first`; the last one fills lanes that are left."""
    return min(world_in(first, lane), worlds - 1)


@formula
def row_at(row: Index, lane: Index) -> int:
    """Position of a lane's number of a row in a block, as slices take it: rows follow each other at LANES."""
    return int(np.int64(row) * LANES + np.int64(lane))


@formula
def get(block: Array, row: Index, k: int, lane: Index) -> float:
    """Number of one world in row + k."""
    return block[(row + np.uint64(k)) * np.uint64(LANES) + lane]


@formula
def get3(block: Array, row: Index, k: int, lane: Index) -> Vec:
    """Three numbers of one world from row + k on."""
    return (get(block, row, k, lane), get(block, row, k + 1, lane), get(block, row, k + 2, lane))


@formula
def get4(block: Array, row: Index, k: int, lane: Index) -> Quat:
    """Four numbers of one world from row + k on."""
    a, b, c = get3(block, row, k, lane)
    return (a, b, c, get(block, row, k + 3, lane))


@formula
def get6(block: Array, row: Index, k: int, lane: Index) -> Six:
    """Six numbers of one world from row + k on."""
    a, b, c = get3(block, row, k, lane)
    d, e, f = get3(block, row, k + 3, lane)
    return (a, b, c, d, e, f)


@formula
def get9(block: Array, row: Index, k: int, lane: Index) -> Mat:
    """Nine numbers of one world from row + k on."""
    a, b, c = get3(block, row, k, lane)
    d, e, f = get3(block, row, k + 3, lane)
    g, h, i = get3(block, row, k + 6, lane)
    return (a, b, c, d, e, f, g, h, i)


@formula
def set1(block: Array, row: Index, k: int, lane: Index, value: float) -> None:
    """Write a number of one world into row + k."""
    block[(row + np.uint64(k)) * np.uint64(LANES) + lane] = value


@formula
def set3(block: Array, row: Index, k: int, lane: Index, v: Vec) -> None:
    """Write three numbers of one world from row + k on."""
    set1(block, row, k, lane, v[0])
    set1(block, row, k + 1, lane, v[1])
    set1(block, row, k + 2, lane, v[2])


@formula
def set4(block: Array, row: Index, k: int, lane: Index, q: Quat) -> None:
    """Write four numbers of one world from row + k on."""
    set3(block, row, k, lane, (q[0], q[1], q[2]))
    set1(block, row, k + 3, lane, q[3])


@formula
def set6(block: Array, row: Index, k: int, lane: Index, a: Six) -> None:
    """Write six numbers of one world from row + k on."""
    set3(block, row, k, lane, (a[0], a[1], a[2]))
    set3(block, row, k + 3, lane, (a[3], a[4], a[5]))
