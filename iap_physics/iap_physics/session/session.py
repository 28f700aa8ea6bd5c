# SPDX-License-Identifier: BSD-3-Clause
"""The plant's side of a flight whose commands come in messages: which command counts, and what if none comes."""

import math
from collections.abc import Callable, Mapping

from iap_description.arrays import Array
from iap_description.errors import BadInput, FlightFailed
from iap_description.states import Command, Q
from iap_description.vehicles.faults import has_come
from iap_description.vehicles.latching import Hold
from iap_physics.arm.arm_commands import ArmCommands, GripperCommands, JointTrajectory
from iap_physics.arm.gripper import NO_COMMANDED_GRIPPER, Gripper
from iap_physics.build import build_plant
from iap_physics.engines.engine import Engine
from iap_physics.measured.state_noise import NO_NOISE, NoisyState
from iap_physics.measured.wrench_sensor import WrenchSensor
from iap_physics.modules.remote_joints import RemoteJoints
from iap_physics.plant.inertial import inertial_probes
from iap_physics.plant.plant_spec import PlantSpec
from iap_physics.plant.vehicle_spec import PlantVehicle
from iap_physics.session.command_buffer import CommandBuffer, FailSafe, FlightHold, VelocityHold
from iap_physics.session.flight_monitor import FlightMonitor

NO_PARTNERS: frozenset[frozenset[str]] = frozenset()


class Session:
    """A plant that is commanded from outside, one control period after the other.

    Args:
        spec: of the plant.
        engine: not loaded yet.
        timeout: a vehicle whose newest command is older levels out and holds, or keeps that command where it is
            joined to a vehicle that has commands [s]; None waits for ever.

    Attributes:
        k: number of the present state.
        failure: why the flight has failed; None while it has not.
        is_broken: whether the state is no longer a number, so that nothing but a reset helps.
        measured: what every vehicle's controller may see of the present state, (13,) each.
        joints: between modules, as their coordinator wants them; None where there are none.
        sensors: of every vehicle's contact wrench; None where it is not measured.
        arms: commands to the vehicles' arms, by their numbers.
        gripper: that goes by commands, and these; None without one.
        samples: of every vehicle's ideal inertial units that have come with the present state.
    """

    def __init__(self, spec: PlantSpec, engine: Engine, *, timeout: float | None) -> None:
        self.spec = spec
        self._max_age = math.inf if timeout is None else timeout * spec.rates.control_hz
        self._probes = inertial_probes(spec)
        dt = 1.0 / spec.rates.control_hz
        self._noises = [
            NoisyState(vehicle.state_noise or NO_NOISE, spec.rng(_noise_name(vehicle)), dt)
            for vehicle in spec.vehicles
        ]
        self.sensors = [_wrench_sensor(spec, vehicle) for vehicle in spec.vehicles]
        self.plant = build_plant(spec, engine, [each for each in self._probes if each is not None])
        self.command_buffers = [
            CommandBuffer(vehicle.name, vehicle.platform.count, _hold_of(spec, vehicle))
            for vehicle in spec.vehicles
        ]
        self.arms = {i: ArmCommands() for i in self.plant.engine.arms}
        gripper, commands = self.plant.part(Gripper), GripperCommands()
        is_commanded = gripper is not None and gripper.spec.is_commanded
        self.gripper = (gripper, commands) if gripper is not None and is_commanded else None
        self._strikes = sorted(
            (fault.at, f"{vehicle.name}: {fault}")
            for vehicle in spec.vehicles
            for fault in vehicle.faults
        )
        self._warm_up()
        self._begin()

    def _warm_up(self) -> None:
        """Hold for a period, so that whatever is loaded when first used is there, and come back.

        Firmwares would have to boot for it, and again for the flight.
        """
        if any(vehicle.firmware is not None for vehicle in self.spec.vehicles):
            return
        for i, command_buffer in enumerate(self.command_buffers):
            x = self.plant.state(i)[0]
            command_buffer.hold.begin(x)
            self.plant.command(i, command_buffer.hold(x))
        self.plant.advance()
        self.plant.restart(self.spec)

    def _begin(self) -> None:
        self.k = 0
        self.failure: FlightFailed | None = None
        self.is_broken = False
        modules = self.spec.modules
        partners = NO_PARTNERS if modules is None else modules.partners
        self.monitor = FlightMonitor(self.spec, partners=partners)
        self.joints = None if modules is None else RemoteJoints(self.spec, modules, self.plant)
        if self.joints is not None:
            self.monitor.structure_of = self.joints.engine_joints.structure_of
        self._estimated = [-1] * len(self.spec.vehicles)  # numbers of the states
        for i, vehicle in enumerate(self.spec.vehicles):
            self.plant.set_estimate(i, None)
            self._noises[i].reset(self.spec.rng(_noise_name(vehicle)))
        for sensor in self.sensors:
            if sensor is not None:
                sensor.reset()
        self.measure()

    def reset(self) -> None:
        """Back to the start, as after a fresh one."""
        if self.joints is not None:
            self.joints.clear()
        self.plant.restart(self.spec)
        for command_buffer in self.command_buffers:
            command_buffer.reset()
        for arm in self.arms.values():
            arm.reset()
        if self.gripper is not None:
            self.gripper[1].reset()
        self._begin()

    def close(self) -> None:
        """Give back what the plant holds outside this process; a second time is fine."""
        self.plant.close()

    @property
    def t(self) -> float:
        """Simulation time of the present state [s]."""
        return self.plant.t

    @property
    def struck(self) -> list[str]:
        """The faults that have struck, as sentences."""
        come = [(at, text) for at, text in self._strikes if has_come(at, self.t)]
        return [f"t = {at:.3f} s: {text}" for at, text in come]

    @property
    def has_begun(self) -> bool:
        """True if every vehicle has had a command."""
        return all(command_buffer.newest >= 0 for command_buffer in self.command_buffers)

    @property
    def is_answered(self) -> bool:
        """True if every vehicle's command for the present state is there, and what joints shall hold.

        A silent vehicle that others carry is not waited for.
        """
        are_joints = self.joints is None or self.joints.newest == self.k
        buffers = self.command_buffers
        in_step = [i for i in self.arms if self.spec.vehicles[i].joints_in_step]
        are_joints = are_joints and all(self.arms[i].newest == self.k for i in in_step)
        if self.spec.grips_in_step and self.gripper is not None:
            are_joints = are_joints and self.gripper[1].newest == self.k
        return are_joints and all(each.newest == self.k or each.is_kept for each in buffers)

    @property
    def is_holding(self) -> bool:
        """True if a vehicle flies without commands."""
        return any(command_buffer.is_holding for command_buffer in self.command_buffers)

    def without_commands(self, vehicle: int) -> str:
        """The behaviour of a vehicle without commands, for the user; empty where it has them."""
        buffer = self.command_buffers[vehicle]
        if buffer.is_holding:
            return "levels out and holds"
        return "its rotors hold the last one" if buffer.is_kept else ""

    def _is_silent(self, vehicle: int) -> bool:
        return self.k - self.command_buffers[vehicle].newest > self._max_age

    def _is_carried(self, vehicle: int) -> bool:
        """True if a silent vehicle is joined to one that has commands: who levels out would pull at the others."""
        if self.joints is None or not self._is_silent(vehicle):
            return False
        return not all(map(self._is_silent, self.joints.structure_of(vehicle)))

    @property
    def missing(self) -> list[str]:
        """The vehicles whose command for the present state is not there."""
        return [buffer.name for buffer in self.command_buffers if buffer.newest != self.k]

    def set_estimate(self, vehicle: int, t: float, x: Array) -> None:
        """Let autopilots go by estimated rows (bodies, 13) of time `t` [s]; what is older than the last is left out."""
        number = self._number(t)
        if self._estimated[vehicle] <= number <= self.k:
            self._estimated[vehicle] = number
            self.plant.set_estimate(vehicle, x)

    def _number(self, t: float) -> int:
        return math.floor(t * self.spec.rates.control_hz + 1e-6)

    def offer(self, vehicle: int, t: float, fill: Callable[[Command], None]) -> None:
        """Take a command that is stamped `t` [s].

        Raises:
            BadInput: it cannot be used.
        """

        def fill_checked(command: Command) -> None:
            fill(command)
            self.plant.check_command(vehicle, command)

        self.command_buffers[vehicle].offer(self._number(t), self.k, fill_checked)

    def offer_arm(self, vehicle: int, t: float, trajectory: JointTrajectory) -> None:
        """Take a command to a vehicle's arm that counts from time `t` [s] on.

        Raises:
            BadInput: it cannot be used.
        """
        self.arms[vehicle].offer(self._number(t), self.k, trajectory)

    def offer_gripper(self, t: float, *, closes: bool) -> None:
        """Take a command to the gripper that counts from time `t` [s] on.

        Raises:
            BadInput: it cannot be used.
        """
        if self.gripper is None:
            raise BadInput(NO_COMMANDED_GRIPPER)
        self.gripper[1].offer(self._number(t), self.k, closes=closes)

    def offer_joints(self, t: float, holds: Mapping[str, Hold]) -> None:
        """Take what latches between modules shall hold from the state of time `t` [s] on.

        Raises:
            BadInput: it cannot be used.
        """
        if self.joints is None:
            raise BadInput("there are no joints")
        self.joints.offer(self._number(t), self.k, holds)

    def advance(self) -> None:
        """Fly one control period; a state that breaks is noted as `failure` and stays.

        The first crash is noted too, and a contact that is lost for good, but the flight goes on: what
        has hit the ground lies there.
        """
        try:
            for i, command_buffer in enumerate(self.command_buffers):
                command_buffer.is_kept = self._is_carried(i)
                is_stale = self._is_silent(i) and not command_buffer.is_kept
                command = command_buffer.next_command(self.plant.state(i)[0], is_stale=is_stale)
                if command_buffer.is_holding:  # estimates no longer come either
                    self.plant.set_estimate(i, None)
                if command is not None:
                    self.plant.command(i, command, on_board=command_buffer.is_holding)
            if self.joints is not None:
                self.joints.advance(self.k)
            for i, arm in self.arms.items():
                target = arm.target(self.t)
                if target is not None:
                    self.plant.command_arm(i, target)
            if self.gripper is not None:
                self.gripper[0].closes = self.gripper[1].closes
            self._monitor()
            self.plant.advance()
        except FlightFailed as error:
            self.failure, self.is_broken = error, True
            return
        self.k += 1
        self.measure()

    def _monitor(self) -> None:
        try:
            self.monitor.check_flight(self.plant)
        except FlightFailed as error:
            self.failure = self.failure or error

    def measure(self) -> None:
        """Measure every vehicle's present state and contact wrench."""
        self.samples = [None if probe is None else probe.take() for probe in self._probes]
        self.measured = [noise(self.plant.state(i)[0, 0]) for i, noise in enumerate(self._noises)]
        for i, (sensor, measured) in enumerate(zip(self.sensors, self.measured, strict=True)):
            if sensor is not None:
                sensor(self.plant.contact_wrench(i), measured[Q])


def _hold_of(spec: PlantSpec, vehicle: PlantVehicle) -> FlightHold:
    """Text of what holds a vehicle without commands."""
    return FailSafe(spec, vehicle) if spec.identified is None else VelocityHold()


def _noise_name(vehicle: PlantVehicle) -> str:
    return f"{vehicle.name}/state_noise"


def _wrench_sensor(spec: PlantSpec, vehicle: PlantVehicle) -> WrenchSensor | None:
    low_pass = vehicle.wrench_filter
    return None if low_pass is None else WrenchSensor(low_pass, spec.dt)
