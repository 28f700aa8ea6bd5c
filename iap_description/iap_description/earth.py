# SPDX-License-Identifier: BSD-3-Clause
"""What holds on Earth, where nobody says otherwise; a scenario's world has its own."""

GRAVITY = 9.81  # along -z of `map` [m/s^2]
