# SPDX-License-Identifier: BSD-3-Clause
"""Generators that draw the least, or the largest, of everything."""

from random import Random


class Least(Random):
    """Draws the first and the least of all."""

    def randint(self, low, high):
        """The least number."""
        return low

    def randrange(self, begin, end=None):
        """Likewise."""
        return 0 if end is None else begin

    def choice(self, values):
        """The first one."""
        return values[0]

    def random(self):
        """The least share."""
        return 0.0

    def randbytes(self, count):
        """So many bytes."""
        return bytes([7]) * count


class Largest(Least):
    """Draws the last and the largest of all."""

    def randint(self, low, high):
        """The largest number."""
        return high

    def randrange(self, begin, end=None):
        """Likewise."""
        return (begin if end is None else end) - 1

    def choice(self, values):
        """The last one."""
        return values[-1]

    def random(self):
        """Nearly 1."""
        return 1.0 - 1e-9
