# SPDX-License-Identifier: BSD-3-Clause
"""Reference trajectories: analytic motions and replayed recordings."""
