# SPDX-License-Identifier: BSD-3-Clause
"""Measurements taken at the plant's tick: contact wrench and noisy state."""
