# SPDX-License-Identifier: BSD-3-Clause
"""Scenarios made ready to fly: plant, vehicles, sensors, estimators."""
