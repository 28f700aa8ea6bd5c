# SPDX-License-Identifier: BSD-3-Clause
"""Deflate (RFC 1951) by Huffman codes alone, for bytes that hardly repeat: those of a camera's filtered image.

zlib spends its time on the search for repetitions, of which noise has none, and without that search
on bookkeeping for it. These loops need a third of its time for the same size, and hold up nobody
who waits for the interpreter meanwhile.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]
State = tuple[int, int, int]  # bytes written, then bits that are not, and their number
LITERALS, END = 257, 256  # symbols of a block without repetitions, and the one that ends it
LONGEST = 15  # bits of a code
HEADER = 160  # bytes that a block needs besides its codes


def bound(size: int, block: int) -> int:
    """Bytes that the result of `deflate` takes at most."""
    return (LONGEST * size) // 8 + (size // block + 1) * HEADER + 8


@njit(cache=True, nogil=True)
def deflate(data: Bytes, block: int, out: Bytes) -> int:
    """Compress.

    Args:
        data: (n,) bytes, at least one.
        block: bytes that share a code.
        out: gets the result; see `bound`.

    Returns:
        Bytes of the result.
    """
    counts, lengths = np.zeros(LITERALS, np.int64), np.zeros(LITERALS, np.int64)
    codes = np.zeros(LITERALS, np.int64)
    at, held, number = 0, 0, 0
    for start in range(0, data.size, block):
        piece = data[start : start + block]
        counts[:] = 0
        counts[END] = 1
        for value in piece:
            counts[value] += 1
        code_lengths(counts, lengths)
        assign_codes(lengths, codes)
        at, held, number = _head(lengths, start + block >= data.size, out, at, held, number)
        for value in piece:
            held |= codes[value] << number
            number += lengths[value]
            if number >= 32:
                for i in range(4):
                    out[at + i] = (held >> (8 * i)) & 0xFF
                at, held, number = at + 4, held >> 32, number - 32
        at, held, number = _put(codes[END], lengths[END], out, at, held, number)
    while number > 0:
        out[at] = held & 0xFF
        at, held, number = at + 1, held >> 8, number - 8
    return at


@njit(cache=True, nogil=True)
def code_lengths(counts: Ints, lengths: Ints) -> None:
    """Bits of the Huffman code of each symbol, at most `LONGEST`; 0 for symbols that do not occur.

    Args:
        counts: (symbols,) how often each occurs; two do at least.
        lengths: (symbols,) gets the result.
    """
    counts = counts.copy()
    used = np.nonzero(counts)[0]
    while True:
        depths = _depths(np.sort(counts[used]))
        if depths.max() <= LONGEST:
            break
        counts[used] = (counts[used] + 1) // 2  # flatter, so the tree is less deep
    lengths[:] = 0
    lengths[used[np.argsort(counts[used], kind="mergesort")]] = depths


@njit(cache=True, nogil=True)
def _depths(counts: Ints) -> Ints:
    """Depths (n,) of the leaves of Huffman's tree for counts (n,) in rising order."""
    n = counts.size
    weights, parents = np.zeros(2 * n - 1, np.int64), np.zeros(2 * n - 1, np.int64)
    weights[:n] = counts
    leaf, inner = 0, n
    for node in range(n, 2 * n - 1):
        for _ in range(2):  # of what is left the two lightest, leaf or not
            if leaf < n and (inner >= node or weights[leaf] <= weights[inner]):
                child, leaf = leaf, leaf + 1
            else:
                child, inner = inner, inner + 1
            weights[node] += weights[child]
            parents[child] = node
    depths = np.zeros(2 * n - 1, np.int64)
    for node in range(2 * n - 3, -1, -1):
        depths[node] = depths[parents[node]] + 1
    return depths[:n]


@njit(cache=True, nogil=True)
def assign_codes(lengths: Ints, codes: Ints) -> None:
    """The canonical codes of given lengths (RFC 1951, 3.2.2), first bit lowest."""
    code = 0
    for length in range(1, LONGEST + 1):
        code <<= 1
        for symbol in range(lengths.size):
            if lengths[symbol] == length:
                turned = 0
                for i in range(length):
                    turned |= ((code >> i) & 1) << (length - 1 - i)
                codes[symbol] = turned
                code += 1


@njit(cache=True, nogil=True)
def _head(lengths: Ints, is_last: bool, out: Bytes, at: int, held: int, number: int) -> State:
    """Begin a block with codes of its own (RFC 1951, 3.2.7): their lengths, each in four bits."""
    at, held, number = _put(int(is_last) | 2 << 1, 3, out, at, held, number)
    at, held, number = _put(
        15 << 10, 14, out, at, held, number
    )  # 257 symbols, one distance, 19 lengths
    for i in range(19):
        at, held, number = _put(
            4 if i >= 3 else 0, 3, out, at, held, number
        )  # repeats are not used
    for length in lengths:
        at, held, number = _put(_turned(length), 4, out, at, held, number)
    return _put(0, 4, out, at, held, number)  # the distance does not occur


@njit(cache=True, nogil=True)
def _turned(value: int) -> int:
    """Four bits in the reverse order, as codes are written."""
    return (value & 1) << 3 | (value & 2) << 1 | (value & 4) >> 1 | (value & 8) >> 3


@njit(cache=True, nogil=True)
def _put(bits: int, count: int, out: Bytes, at: int, held: int, number: int) -> State:
    """Append up to 15 bits."""
    held |= bits << number
    number += count
    while number >= 8:
        out[at] = held & 0xFF
        at, held, number = at + 1, held >> 8, number - 8
    return at, held, number
