# SPDX-License-Identifier: BSD-3-Clause
"""Policies: files that numpy reads, what they compute, blocks for images and memory, what flies them."""
