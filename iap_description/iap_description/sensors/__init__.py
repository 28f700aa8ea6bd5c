# SPDX-License-Identifier: BSD-3-Clause
"""Readings, sensor descriptions and mounts: the vocabulary between sensors and estimators."""
