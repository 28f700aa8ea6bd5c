# SPDX-License-Identifier: BSD-3-Clause
"""Latches between ports: when they catch, how they damp and lock, in engines and in batches alike."""
