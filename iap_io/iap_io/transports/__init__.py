# SPDX-License-Identifier: BSD-3-Clause
"""Compressed images in messages as image_transport's plugins write them: one module a kind, and a table."""
