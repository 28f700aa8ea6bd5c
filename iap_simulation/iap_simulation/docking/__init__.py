# SPDX-License-Identifier: BSD-3-Clause
"""Docking in the air: its outcome, its scripted and learned pair of aircraft, and batches of it."""
