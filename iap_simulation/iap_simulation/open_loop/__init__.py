# SPDX-License-Identifier: BSD-3-Clause
"""Commands of flight logs into the plant: open loop, from windows along the flight."""
