# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C at a chosen row of a training's table."""


class Interruption:
    """Ctrl-C at a row of the table."""

    def __init__(self, at):
        self.left = at

    def __call__(self, row):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
