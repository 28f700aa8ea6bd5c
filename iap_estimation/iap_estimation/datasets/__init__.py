# SPDX-License-Identifier: BSD-3-Clause
"""Data sets: opened, localised in, and judged."""
