# SPDX-License-Identifier: BSD-3-Clause
"""Keeps what C libraries print out of standard output, which belongs to the results."""

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def native_output_to(descriptor: int, *, of: tuple[int, ...] = (1,)) -> Iterator[None]:
    """Send what is written to some file descriptors to another one.

    C's buffers are flushed on the way in and out: with standard output in a pipe, a C library's
    text would otherwise stay in its buffer and come out after the descriptor is back.

    Args:
        descriptor: an open file, e.g. 2 for standard error.
        of: the descriptors to divert.
    """
    libc = ctypes.CDLL(None)
    _flush(libc)
    saved = [os.dup(source) for source in of]
    for source in of:
        os.dup2(descriptor, source)
    try:
        yield
    finally:
        _flush(libc)
        for source, copy in zip(of, saved, strict=True):
            os.dup2(copy, source)
            os.close(copy)


@contextmanager
def native_output_discarded() -> Iterator[None]:
    """Drop what is written to standard output and standard error."""
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        with native_output_to(null, of=(1, 2)):
            yield
    finally:
        os.close(null)


def _flush(libc: ctypes.CDLL) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    libc.fflush(None)
