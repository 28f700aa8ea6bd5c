# SPDX-License-Identifier: BSD-3-Clause
"""The scenarios that ship with the suite, by name."""

from pathlib import Path

from iap_description.config.presets import Presets

DATA = Path(__file__).parents[1] / "data"
SCENARIOS = Presets(DATA / "scenarios", "scenario")
