# SPDX-License-Identifier: BSD-3-Clause
"""Logs of autopilots: PX4's ULog, ArduPilot's dataflash, Betaflight's blackbox as CSV."""
