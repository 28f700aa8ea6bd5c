# SPDX-License-Identifier: BSD-3-Clause
"""The controllers of the Crazyflie's firmware, as bindings for Python that the user has built."""
