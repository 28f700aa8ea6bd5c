# SPDX-License-Identifier: BSD-3-Clause
"""How far what a vehicle believed in flight was from the truth, as metrics.json has it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iap_description import so3
from iap_description.states import P, Q
from iap_estimation.evaluation import trajectory_errors
from iap_estimation.navigation.data import CENTRE_NAME
from iap_io.runs.run_folder import VehicleRun

Array = NDArray[np.float64]
Metrics = dict[str, Any]


def estimation_metrics(vehicle: VehicleRun, faults: Sequence[tuple[float, str]]) -> Metrics:
    """Keys `estimation` and `methods`, with the bodies and figures of ``iap localize``; nothing for the truth.

    Errors are without alignment, over the whole flight.

    Args:
        vehicle: as recorded.
        faults: times [s] at which its estimator lost its way, and why.
    """
    meta, c = vehicle.meta, vehicle.columns
    if c.estimated is None:
        return {}
    names = (CENTRE_NAME if j not in meta.aircraft else name for j, name in enumerate(meta.bodies))
    estimation = {
        name: {meta.state_source: _figures(c.estimated[:, j], c.x[:, j])}
        for j, name in enumerate(names)
    }
    told = [{"t_s": t, "reason": reason} for t, reason in faults]
    return {"estimation": estimation, "methods": {meta.state_source: {"faults": told}}}


def _figures(believed: Array, x: Array) -> Metrics:
    known = np.isfinite(believed).all(axis=1)
    believed, x = believed[known], x[known]
    if not len(x):
        none = ("ate_rmse_m", "ate_max_m", "drift_percent", "attitude_rmse_deg")
        return dict.fromkeys(none)
    errors = believed[:, P] - x[:, P]
    sizes = np.linalg.norm(errors, axis=1)
    path = float(np.linalg.norm(np.diff(x[:, P], axis=0), axis=1).sum())
    turns = so3.quaternion_log(so3.multiply(so3.conjugate(x[:, Q]), believed[:, Q]))
    return {
        "ate_rmse_m": trajectory_errors.rmse_of_vectors(errors),
        "ate_max_m": float(sizes.max()),
        "drift_percent": 100.0 * float(sizes[-1]) / path if path > 0.0 else None,
        "attitude_rmse_deg": float(np.rad2deg(trajectory_errors.rmse_of_vectors(turns))),
    }
