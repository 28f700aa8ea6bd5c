# SPDX-License-Identifier: BSD-3-Clause
"""Validation of models on logs: free-run errors per channel."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from iap_description.arrays import Array
from iap_physics.identified.dynamics import CHANNELS
from iap_simulation.identification.choosing import DataSplit
from iap_simulation.identification.identifying import IdentifiedModel, Predictor
from iap_simulation.identification.log import Log


def errors_over(logs: Sequence[Log], predict: Predictor) -> dict[str, float]:
    """RMS over logs of the free-run RMSE of every channel [m/s, rad/s]; spikes do not count."""
    rmse = np.array([_rmse(log, predict(log) - log.v) for log in logs])
    return _by_channel(logs[0], np.sqrt(np.mean(rmse**2, axis=0)))


def sizes(logs: Sequence[Log]) -> dict[str, float]:
    """RMS over logs of the velocities themselves."""
    rmse = np.array([_rmse(log, log.v) for log in logs])
    return _by_channel(logs[0], np.sqrt(np.mean(rmse**2, axis=0)))


def _rmse(log: Log, errors: Array) -> Array:
    return np.sqrt(np.mean(errors**2, axis=0, where=log.sound))


def _by_channel(log: Log, values: Array) -> dict[str, float]:
    return {name: float(values[CHANNELS.index(name)]) for name in log.channels}


def validation(data: DataSplit, model: IdentifiedModel) -> dict[str, Any]:
    """metrics.json of an identification."""
    parameters = {name: list(pair) for name, pair in model.parameters.items()}
    return {
        "model": model.plant.model,
        **model.figures,
        "fit": [log.name for log in data.fit],
        "validate": [log.name for log in data.held_out],
        "validated_on_training": data.is_forced,
        "notes": {log.name: list(log.notes) for log in (*data.fit, *data.held_out) if log.notes},
        "rms": sizes(data.held_out),
        "rmse": {
            name: errors_over(data.held_out, predict) for name, predict in model.predictors.items()
        },
        "rmse_by_log": {
            log.name: {name: errors_over([log], each) for name, each in model.predictors.items()}
            for log in data.held_out
        },
        "training_rmse": errors_over(data.fit, model.predictors["this fit"]),
        "parameters": parameters,
    }
