# SPDX-License-Identifier: BSD-3-Clause
"""Logs of autopilots, and what is in them."""
