# SPDX-License-Identifier: BSD-3-Clause
"""Bag files: the writer, the mcap format, PNG images."""
