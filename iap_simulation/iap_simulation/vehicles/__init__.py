# SPDX-License-Identifier: BSD-3-Clause
"""Vehicles of a run: models, references, controllers, starts, wrenches."""
