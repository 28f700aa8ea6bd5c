# SPDX-License-Identifier: BSD-3-Clause
"""Mathematics: rotations, compiled formulas, lanes of worlds, random streams."""
