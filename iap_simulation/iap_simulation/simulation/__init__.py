# SPDX-License-Identifier: BSD-3-Clause
"""The simulation: a scenario that is stepped, reset, and brought back to snapshots."""
