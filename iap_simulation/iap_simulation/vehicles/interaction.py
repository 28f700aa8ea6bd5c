# SPDX-License-Identifier: BSD-3-Clause
"""Wrench sensing, admittance and wrench reference of one vehicle."""

from typing import Self

import numpy as np

from iap_control.interaction.admittance import Admittance
from iap_control.interaction.push import PushPlan
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.sensors.sensor_info import ImuInfo
from iap_description.signals import ForceMode, ForceTask, Reference, WrenchRecord
from iap_description.states import REF_FIXED, Command, Q
from iap_description.vehicles.assembly import Assembly
from iap_estimation.wrench.imu_wrench_observer import ImuWrenchObserver
from iap_estimation.wrench.momentum_observer import MomentumObserver
from iap_estimation.wrench.observer_responder import WrenchObserver
from iap_physics.measured.wrench_sensor import WrenchSensor, to_world
from iap_simulation.scenario.rig_spec import sensor_infos
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec


class InteractionControl:
    """Wrench sensing, admittance and wrench reference of one vehicle.

    Wrenches are those of the environment on the platform, about P's origin.

    Args:
        sensor: of the contact wrench.
        observer: estimates the wrench without a sensor.
        source: which wrench is acted upon: raw, filtered or estimated.
        admittance: None where the command does not yield.
        plan: None where nothing is pushed.

    Attributes:
        estimated_P: (6,) the observer's wrench in P.
        task: of wrench control.
    """

    def __init__(
        self,
        sensor: WrenchSensor,
        observer: WrenchObserver,
        source: str,
        admittance: Admittance | None,
        plan: PushPlan | None,
    ) -> None:
        self.sensor, self.observer = sensor, observer
        self.admittance, self.plan = admittance, plan
        self._source = source
        self.reset()

    @classmethod
    def of(cls, scenario: Scenario, vehicle: VehicleSpec, assembly: Assembly) -> Self:
        """Build what a vehicle's keys ask for; `assembly` is the controller's model of it.

        Raises:
            BadInput: it is to act on an estimate that its observer cannot make.
        """
        control, dt = vehicle.control, scenario.dt
        tilts = any(aircraft.tilt is not None for aircraft in vehicle.platform.fleet)
        if tilts and control.wrench_source == "estimated":
            raise BadInput(
                f"vehicle '{vehicle.name}': key 'control.wrench_source': 'estimated' takes rotors for upright, and"
                f" those of '{vehicle.platform.name}' tilt (choices: raw, filtered)"
            )
        mode = ForceMode[control.wrench_mode.upper()]
        sensor = WrenchSensor(control.wrench_filter, dt)
        observer = wrench_observer(scenario, vehicle, assembly)
        admittance = Admittance(control.gains.admittance, dt) if control.admittance else None
        push = None if mode == ForceMode.NONE else vehicle.push
        plan = None if push is None else PushPlan(push, mode, dt=dt)
        return cls(sensor, observer, control.wrench_source, admittance, plan)

    def reset(self) -> None:
        """Forget the wrenches so far."""
        self.estimated_P = np.zeros(6)
        self._tracked = Reference(np.zeros(REF_FIXED))
        self.task: ForceTask | None = None
        self._command: Command | None = None
        self._measured_W = np.zeros(6)
        for part in (self.sensor, self.observer, self.admittance, self.plan):
            if part is not None:
                part.reset()

    def update(self, x: Array, measured: Array, wrench_W: Array) -> None:
        """Measure and estimate the wrench.

        Args:
            x: (bodies, 13) state.
            measured: (13,) what the controller sees of the central body.
            wrench_W: (6,) mean contact wrench on the central body in the last period, world axes.
        """
        self.sensor(wrench_W, measured[Q])
        if self._command is not None:  # before the first one nothing is known of the thrusts
            state = x.copy()
            state[0] = measured
            self.estimated_P[:] = self.observer(state, self._command)

    def revise_reference(self, t: float, q_WP: Array, reference: Reference) -> Reference:
        """The reference to track at time `t` [s]; `task` is what to push with it."""
        measured_P = self.measured_P
        if self.admittance is not None:
            to_world(measured_P, q_WP, self._measured_W)
            reference = self.admittance(reference, self._measured_W, True)
        self._tracked = reference
        if self.plan is not None:
            self.task = self.plan(t, measured_P)
        return reference

    def note_command(self, command: Command) -> None:
        """Keep the command on the present state, which must not change before the next update."""
        self._command = command

    @property
    def wrench_record(self) -> WrenchRecord:
        """The last wrenches, and what answered them."""
        sensor = self.sensor
        return WrenchRecord(
            sensor.raw_P, sensor.filtered_P, self.estimated_P, self._tracked, self.task
        )

    @property
    def measured_P(self) -> Array:
        """(6,) the wrench that is acted upon."""
        if self._source == "estimated":
            return self.estimated_P
        return self.sensor.raw_P if self._source == "raw" else self.sensor.filtered_P


def wrench_observer(
    scenario: Scenario, vehicle: VehicleSpec, assembly: Assembly
) -> WrenchObserver:
    """The observer of a vehicle; `assembly` is the controller's model of it."""
    control = vehicle.control
    model = assembly, vehicle.platform.fleet, control.gains.autopilot
    if control.observer == "acceleration":
        units = [each for each in sensor_infos(scenario) if isinstance(each, ImuInfo)]
        cutoff = control.observer_gain / (2.0 * np.pi)
        return ImuWrenchObserver.of(*model, units, cutoff=cutoff, dt=scenario.dt)
    gain = np.full(6, control.observer_gain)
    return MomentumObserver(*model, gravity=scenario.world.gravity, gain=gain, dt=scenario.dt)
