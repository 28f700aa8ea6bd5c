# SPDX-License-Identifier: BSD-3-Clause
"""The simulation: scenario, vehicles, plant, controllers, sensors and estimators in one loop."""
