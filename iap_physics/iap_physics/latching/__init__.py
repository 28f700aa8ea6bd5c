# SPDX-License-Identifier: BSD-3-Clause
"""Latches at work."""
