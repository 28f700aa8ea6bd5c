# SPDX-License-Identifier: BSD-3-Clause
"""Kinds of tasks: the worlds, actions, observations, rewards, outcomes and agents of each."""
