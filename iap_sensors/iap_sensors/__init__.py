# SPDX-License-Identifier: BSD-3-Clause
"""Measurements: the truth, corrupted by named noise streams."""
