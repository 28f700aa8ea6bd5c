# SPDX-License-Identifier: BSD-3-Clause
"""Allocation: from a wrench on the platform to commands of its aircraft."""
