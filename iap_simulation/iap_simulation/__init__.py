# SPDX-License-Identifier: BSD-3-Clause
"""The simulation: scenario, vehicles, plant, controllers, sensors and estimators in one loop."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from iap_description import __version__ as __version__

if TYPE_CHECKING:
    from iap_simulation.runs.run import record as record
    from iap_simulation.simulation.simulation import Simulation as Simulation

HOMES = {"Simulation": "iap_simulation.simulation.simulation", "record": "iap_simulation.runs.run"}


def __dir__() -> list[str]:
    """Names of the package, with those that are imported once they are asked for."""
    return sorted([*globals(), *HOMES])


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever it is
    """Import what is asked for when it is asked for: an engine is not needed to read a scenario."""
    if name not in HOMES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(import_module(HOMES[name]), name)
