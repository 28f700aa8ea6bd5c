# SPDX-License-Identifier: BSD-3-Clause
"""Constants of the Earth: gravity where a scenario's world gives no other, and the unit g."""

GRAVITY = 9.81  # along -z of `map` [m/s^2]
STANDARD_GRAVITY = 9.80665  # g_0, the unit g of accelerometers [m/s^2]
