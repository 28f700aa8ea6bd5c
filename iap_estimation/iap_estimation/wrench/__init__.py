# SPDX-License-Identifier: BSD-3-Clause
"""Wrench observers, which need no force sensor."""
