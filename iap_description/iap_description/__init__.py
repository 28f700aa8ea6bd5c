# SPDX-License-Identifier: BSD-3-Clause
"""What there is: vehicles, worlds, states and the rotations and frames they are expressed in."""
