# SPDX-License-Identifier: BSD-3-Clause
"""Set-points of aircraft in the messages of real autopilots."""
