# SPDX-License-Identifier: BSD-3-Clause
"""Time for which a test waits for other processes: a detector of hangs, never a measure of speed."""

HANG = 600.0  # for anything that happens within seconds on a machine with nothing else to do [s]
