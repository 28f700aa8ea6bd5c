# SPDX-License-Identifier: BSD-3-Clause
"""Models of rotorcraft from flight logs: thrust, rotation, drag, lags, noise, and how well they predict."""
