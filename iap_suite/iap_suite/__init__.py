# SPDX-License-Identifier: BSD-3-Clause
"""The suite in one place: ``import iap_suite as iap``, then `iap.record`, `iap.Simulation`, `iap.Worlds` and others.

A name is imported from its package when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from iap_description import __version__ as __version__

if TYPE_CHECKING:
    from iap_description.errors import BadInput as BadInput
    from iap_description.errors import FlightFailed as FlightFailed
    from iap_description.errors import IapError as IapError
    from iap_description.vehicles.platform import load_platform as load_platform
    from iap_io.runs.run_reader import RunReader as RunReader
    from iap_learning.policies.policy import Policy as Policy
    from iap_learning.tasks.kinds.registry import make_episodes as make_episodes
    from iap_learning.tasks.task import Task as Task
    from iap_simulation.batch.worlds import Worlds as Worlds
    from iap_simulation.runs.run import record as record
    from iap_simulation.scenario.resolving import Options as Options
    from iap_simulation.scenario.resolving import resolve as resolve
    from iap_simulation.simulation.simulation import Simulation as Simulation
    from iap_simulation.sweeps.study import Axis as Axis
    from iap_simulation.sweeps.study import Study as Study
    from iap_simulation.sweeps.sweep import sweep as sweep

HOMES = {
    "Axis": "iap_simulation.sweeps.study",
    "BadInput": "iap_description.errors",
    "FlightFailed": "iap_description.errors",
    "IapError": "iap_description.errors",
    "Options": "iap_simulation.scenario.resolving",
    "Policy": "iap_learning.policies.policy",
    "RunReader": "iap_io.runs.run_reader",
    "Simulation": "iap_simulation.simulation.simulation",
    "Study": "iap_simulation.sweeps.study",
    "Task": "iap_learning.tasks.task",
    "Worlds": "iap_simulation.batch.worlds",
    "load_platform": "iap_description.vehicles.platform",
    "make_episodes": "iap_learning.tasks.kinds.registry",
    "record": "iap_simulation.runs.run",
    "resolve": "iap_simulation.scenario.resolving",
    "sweep": "iap_simulation.sweeps.sweep",
}
__all__ = ["__version__", *HOMES]  # noqa: PLE0604 - names all


def __dir__() -> list[str]:
    """Names of the suite, with those that are imported when they are first used."""
    return sorted([*globals(), *HOMES])


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever it is
    """Import what is asked for when it is asked for."""
    if name not in HOMES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(import_module(HOMES[name]), name)
