# SPDX-License-Identifier: BSD-3-Clause
"""Constants of the laws of a docking pair, from its scenario."""

import numpy as np

from iap_control.docking.coupled_flight import PairLaws
from iap_control.docking.settings import CoupledParameters, ScriptParameters
from iap_control.docking.vehicle_control import MAX_AHEAD, PairParameters
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math.kernels import Vec
from iap_description.states import REF_P
from iap_description.vehicles.aircraft import inertia_matrix
from iap_simulation.docking.outcome import DockingLimits
from iap_simulation.docking.ports import port_frames
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.vehicles.vehicle import Vehicle


def pair_laws(scenario: Scenario) -> PairLaws:
    """Constants of the laws of a scenario that docks.

    Raises:
        BadInput: the assumed delay is longer than can be predicted over.
    """
    spec = scenario.docking
    assert spec is not None
    docked = docked_positions(scenario)
    coupled = CoupledParameters(**spec.coupled.model_dump(), place=_vec(docked.mean(axis=0)))
    script = ScriptParameters(**spec.script.model_dump())
    return PairLaws(coupled, script, _pair_parameters(scenario, script.assumed_delay, docked))


def _pair_parameters(scenario: Scenario, assumed_delay: float, docked: Array) -> PairParameters:
    assert scenario.docking is not None
    ahead = round(assumed_delay / scenario.dt)
    if ahead > MAX_AHEAD:
        raise BadInput(
            f"key 'docking.script.assumed_delay': {assumed_delay:g} s is more than {MAX_AHEAD} control periods"
        )
    latch = scenario.latches[scenario.docking.latch]
    probe, socket = port_frames(scenario, latch)
    target = next(v for v in scenario.vehicles if v.name == latch.socket.split("/")[0])
    aircraft, rate = target.platform.aircraft, np.array(target.control.gains.autopilot.rate)
    between = np.subtract(*docked)
    return PairParameters(
        probe=probe,
        socket=socket,
        mass=aircraft.mass,
        gravity=scenario.world.gravity,
        dt=scenario.dt,
        ahead=ahead,
        rate_gain=_vec(rate),
        coupled_rate_gain=_vec(
            rate * _own_share(inertia_matrix(aircraft.inertia), aircraft.mass, between)
        ),
    )


def _own_share(J: Array, mass: float, between: Array) -> Array:
    """Shares (3,) of a vehicle's own inertia J (3, 3) in what it has to turn while two of them are locked.

    By the parallel axis theorem half of the pair has J + m (d^T d I - d d^T), with d half the way between the CoMs.
    """
    d = 0.5 * between
    coupled = J + mass * (d @ d * np.eye(3) - np.outer(d, d))
    return np.asarray(np.diag(J) / np.diag(coupled))


def docked_positions(scenario: Scenario) -> Array:
    """Positions (2, 3) of target and chaser docked and level, the target at its scenario's first reference [m]."""
    assert scenario.docking is not None
    latch = scenario.latches[scenario.docking.latch]
    probe, socket = port_frames(scenario, latch)
    target = next(v for v in scenario.vehicles if v.name == latch.socket.split("/")[0])
    place = Vehicle.of(scenario, target).timeline.row(0)[REF_P]
    end = place + np.asarray(socket.position) - latch.depth * np.asarray(socket.axis)
    return np.stack([place, end - np.asarray(probe.position)])


def docking_limits(scenario: Scenario) -> DockingLimits:
    """Limits of a scenario's docking, without those of a task."""
    assert scenario.docking is not None
    return DockingLimits.of(scenario.docking.success, docked_positions(scenario))


def _vec(numbers: Array) -> Vec:
    x, y, z = np.asarray(numbers, dtype=np.float64).tolist()
    return (x, y, z)
