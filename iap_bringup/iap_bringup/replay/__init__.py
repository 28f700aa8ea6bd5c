# SPDX-License-Identifier: BSD-3-Clause
"""Replay of recorded commands: bags and CSV files in, uniform reference rows out."""
