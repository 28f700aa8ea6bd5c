# SPDX-License-Identifier: BSD-3-Clause
"""Docking one module onto another as a task: what is commanded, seen, rewarded, and when the latch catches."""
