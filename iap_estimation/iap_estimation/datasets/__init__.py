# SPDX-License-Identifier: BSD-3-Clause
"""Data sets: how they are opened, localisation in them, and its errors."""
