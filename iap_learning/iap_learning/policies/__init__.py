# SPDX-License-Identifier: BSD-3-Clause
"""Policies: files that numpy reads, what they compute, and what flies them."""
