# SPDX-License-Identifier: BSD-3-Clause
"""Data sets in EuRoC's layout."""
