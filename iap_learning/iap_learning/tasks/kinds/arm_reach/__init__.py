# SPDX-License-Identifier: BSD-3-Clause
"""Reaching targets with an end effector as a task: what is commanded, seen, rewarded, and when it has arrived."""
