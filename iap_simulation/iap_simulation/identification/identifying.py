# SPDX-License-Identifier: BSD-3-Clause
"""An identification from logs to a plant that can be flown, judged by the logs that were held out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_physics.identified.dynamics import CHANNELS
from iap_physics.identified.plant_file import (
    Channel,
    DynamicPlant,
    PlantFile,
    SecondOrderPlant,
    load_plant,
)
from iap_simulation.identification.channels import ChannelFit, free_run_of_channels, offered_fit
from iap_simulation.identification.choosing import DataSplit
from iap_simulation.identification.dynamic_model import (
    equation_errors,
    filtered,
    fit_dynamic,
    free_run,
)
from iap_simulation.identification.log import Log
from iap_simulation.identification.settings import Settings

Model = Literal["dynamic", "second_order"]
Error = Literal["equation", "free_run"]
Predictor = Callable[[Log], Array]
ROW = tuple(Channel.model_fields)  # gain, frequency, damping, delay
THIS_FIT, PUBLISHED, SECOND_ORDER = "this fit", "published", "second order"
STILL = 0.05  # deviation of a velocity that is not worth a note [m/s, rad/s]
ZERO, COMMAND = "zero", "command"  # velocities that a vehicle has without moving, or without delay


@dataclass(frozen=True)
class IdentifiedModel:
    """A model and what was found out about it.

    Attributes:
        plant: the model, as a file has it.
        predictors: free runs of the model and of what it is compared with.
        parameters: name -> value and half-width of its 95 % interval, None where the logs do not determine it.
        figures: of the fit, for metrics.json.
    """

    plant: PlantFile
    predictors: dict[str, Predictor]
    parameters: dict[str, tuple[float, float | None]]
    figures: dict[str, Any]


def identified(
    data: DataSplit, model: Model, error: Error | None, settings: Settings
) -> IdentifiedModel:
    """Fit a model.

    Args:
        data: logs.
        model: `dynamic`, eq. (18) of aerial_manipulator, or `second_order` channels.
        error: what the fit makes small; None is the model's own, the equation's or the free run's.
        settings: of fits and filters.

    Raises:
        BadInput: a model that the logs have no channels for, or an error that a model has not.
    """
    channels = fitted_channels(data, settings)
    beside = {ZERO: _zero, COMMAND: _commanded, SECOND_ORDER: _by_channels(_rows(channels))}
    if model == "second_order":
        if error == "equation":
            raise BadInput("--error equation: second_order channels are fitted by their free run")
        made = _second_order(data, channels)
    else:
        made = _dynamic(data, error or "equation", settings)
    if data.fit[0].has_arm:
        beside[PUBLISHED] = predictor(load_plant(settings.published))
    if model == "second_order":
        del beside[SECOND_ORDER]
    return IdentifiedModel(
        made.plant, {**beside, THIS_FIT: predictor(made.plant)}, made.parameters, made.figures
    )


def fitted_channels(data: DataSplit, settings: Settings) -> dict[str, ChannelFit]:
    """A second-order fit of every channel that is commanded."""
    logs = data.fit
    return {
        channel: offered_fit(logs, data.held_out, channel, settings.second_order, settings.steps)
        for i, channel in enumerate(CHANNELS)
        if channel in logs[0].channels and any(np.ptp(log.command[:, i]) for log in logs)
    }


def _not_commanded(logs: Sequence[Log]) -> dict[str, list[str]]:
    """A note on each channel that moves without a command."""
    notes = {}
    for channel in logs[0].channels:
        i = CHANNELS.index(channel)
        size = max(float(np.std(log.v[:, i])) for log in logs)
        if size > STILL and not any(np.ptp(log.command[:, i]) for log in logs):
            u = logs[0].command[0, i]
            text = f"not fitted: {channel}_ref is {u:.3g} in every sample, while {channel} moves"
            notes[channel] = [f"{text} with a deviation of {size:.2g}"]
    return notes


def _rows(channels: dict[str, ChannelFit]) -> Array:
    rows = np.zeros((len(CHANNELS), len(ROW)))
    for channel, fit in channels.items():
        rows[CHANNELS.index(channel)] = fit.fit.values
    return rows


def _second_order(data: DataSplit, channels: dict[str, ChannelFit]) -> IdentifiedModel:
    if not channels:
        raise BadInput(f"{data.fit[0].source}: no channel is commanded")
    fits = {name: each.fit for name, each in channels.items()}
    plain = {
        name: dict(zip(ROW, map(float, fit.values), strict=True)) for name, fit in fits.items()
    }
    parameters = {
        f"{channel} {name}": _interval(value, half)
        for channel, fit in fits.items()
        for name, value, half in zip(ROW, fit.values, fit.half_widths, strict=True)
    }
    plant = SecondOrderPlant(
        model="second_order",
        description=_description("second-order channels", data),
        channels={name: Channel(**each) for name, each in plain.items()},
        fit=_origin(data, "free_run", parameters),
    )
    cost = float(np.linalg.norm([fit.cost for fit in fits.values()]))
    channel_notes = {name: list(each.notes) for name, each in channels.items() if each.notes}
    channel_notes |= _not_commanded(data.fit)
    figures = {"error": "free_run", "cost": cost, "channel_notes": channel_notes}
    return IdentifiedModel(plant, {}, parameters, figures)


def _dynamic(data: DataSplit, error: str, settings: Settings) -> IdentifiedModel:
    start = load_plant(settings.start)
    if not isinstance(start, DynamicPlant):
        raise BadInput(f"start: {settings.start} is no plant of model dynamic")
    if not data.fit[0].has_arm:
        raise BadInput(
            f"{data.fit[0].source}: has no arm; model dynamic is of one with three joints"
        )
    fit = fit_dynamic(data.fit, start, error, settings)
    parameters = {
        f"zeta_{i}": _interval(value, half)
        for i, (value, half) in enumerate(zip(fit.values, fit.half_widths, strict=True), 1)
    }
    plant = start.model_copy(
        update={
            "description": _description("velocity dynamics", data),
            "zeta": tuple(map(float, fit.values)),
            "fit": _origin(data, error, parameters),
        }
    )
    figures = {
        "error": error,
        "cost": fit.cost,
        "evaluations": fit.evaluations,
        "alpha": settings.alpha,
        "equation_error_norm": {
            THIS_FIT: _equation_norm(data.fit, plant, settings),
            PUBLISHED: _equation_norm(data.fit, load_plant(settings.published), settings),
        },
    }
    return IdentifiedModel(plant, {}, parameters, figures)


def _equation_norm(logs: Sequence[Log], plant: PlantFile, settings: Settings) -> float | None:
    """V_m as the paper reports it: the norm of v_d - Y zeta over all samples and channels."""
    if not isinstance(plant, DynamicPlant):
        return None
    parts = [equation_errors(plant.dynamics(), filtered(log, settings.bandwidth)) for log in logs]
    return float(np.linalg.norm(np.concatenate(parts)))


def predictor(plant: PlantFile) -> Predictor:
    """Free runs of a plant."""
    if isinstance(plant, SecondOrderPlant):
        return _by_channels(plant.rows())
    dynamics = plant.dynamics()
    return lambda log: np.asarray(free_run(dynamics, log))


def _by_channels(rows: Array) -> Predictor:
    return lambda log: free_run_of_channels(rows, log)


def _zero(log: Log) -> Array:
    return np.zeros(log.v.shape)


def _commanded(log: Log) -> Array:
    return log.command


def _interval(value: float, half: float) -> tuple[float, float | None]:
    return float(value), float(half) if np.isfinite(half) else None


def _description(what: str, data: DataSplit) -> str:
    return f"Identified {what}, from {', '.join(log.name for log in data.fit)}."


def _origin(
    data: DataSplit, error: str, parameters: dict[str, tuple[float, float | None]]
) -> dict[str, Any]:
    """Origin of a plant's numbers, for readers of its file."""
    return {
        "logs": [log.name for log in data.fit],
        "validated_on": [log.name for log in data.held_out],
        "error": error,
        "half_widths_95": {name: half for name, (_, half) in parameters.items()},
    }
