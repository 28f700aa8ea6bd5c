# SPDX-License-Identifier: BSD-3-Clause
"""Places of PX4's signals, from release 1.6 to 1.16: topics and fields were renamed several times."""

from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.log_tables import LogField

LOCAL = "vehicle_local_position"
ATTITUDE = "vehicle_attitude"
ODOMETRY = "vehicle_odometry"


def _three(stem: str) -> tuple[str, ...]:
    return tuple(f"{stem}[{i}]" for i in range(3))


def _four(stem: str) -> tuple[str, ...]:
    return tuple(f"{stem}[{i}]" for i in range(4))


FIELDS = (
    LogField(names.ATTITUDE, ATTITUDE, _four("q"), "wxyz ned"),
    LogField(names.POSITION, LOCAL, ("x", "y", "z"), "ned"),
    LogField(names.VELOCITY, LOCAL, ("vx", "vy", "vz"), "ned"),
    LogField(names.ATTITUDE, ODOMETRY, _four("q"), "wxyz ned", releases="bags"),
    LogField(names.POSITION, ODOMETRY, _three("position"), "ned", releases="bags"),
    LogField(names.RATES, "vehicle_angular_velocity", _three("xyz"), "frd", releases="from 1.11"),
    LogField(
        names.RATES, ATTITUDE, ("rollspeed", "pitchspeed", "yawspeed"), "frd", releases="to 1.9"
    ),
    LogField(names.RATES, "sensor_combined", _three("gyro_rad"), "frd"),
    LogField(names.GYROSCOPE, "sensor_combined", _three("gyro_rad"), "frd"),
    LogField(names.SPECIFIC_FORCE, "sensor_combined", _three("accelerometer_m_s2"), "frd"),
    LogField(names.MOTORS, "actuator_motors", ("control[*]",), releases="from 1.13"),
    LogField(names.MOTORS, "actuator_outputs", ("motor[*]",), releases="to 1.13, and SITL"),  # by `px4_outputs`
    LogField(names.ROTOR_SPEEDS, "esc_status", ("speed[*]",)),  # by `px4_outputs`
    LogField(names.TORQUE, "vehicle_torque_setpoint", _three("xyz"), "frd", releases="from 1.14"),
    LogField(names.TORQUE, "actuator_controls_0", _three("control"), "frd", releases="to 1.13"),
    LogField(
        names.THRUST, "vehicle_thrust_setpoint", ("xyz[2]",), "up", releases="from 1.14"
    ),
    LogField(names.THRUST, "actuator_controls_0", ("control[3]",), releases="to 1.13"),
    LogField(names.ATTITUDE_SETPOINT, "vehicle_attitude_setpoint", _four("q_d"), "wxyz ned"),
    LogField(
        names.ATTITUDE_SETPOINT, "vehicle_attitude_setpoint",
        ("roll_body", "pitch_body", "yaw_body"), "rpy ned", releases="to 1.15",
    ),
    LogField(names.POSITION_SETPOINT, "vehicle_local_position_setpoint", ("x", "y", "z"), "ned"),
    LogField(
        names.POSITION_SETPOINT, "trajectory_setpoint", _three("position"), "ned",
        releases="from 1.14",
    ),
    LogField(
        names.VELOCITY_SETPOINT, "vehicle_local_position_setpoint", ("vx", "vy", "vz"), "ned"
    ),
    LogField(
        names.VELOCITY_SETPOINT, "trajectory_setpoint", _three("velocity"), "ned",
        releases="from 1.14",
    ),
    LogField(names.RATES_SETPOINT, "vehicle_rates_setpoint", ("roll", "pitch", "yaw"), "frd"),
    LogField(names.VOLTAGE, "battery_status", ("voltage_v",)),
    LogField(names.CURRENT, "battery_status", ("current_a",)),
    LogField(names.ARMED, "actuator_armed", ("armed",)),
    LogField(names.ARMED, "vehicle_status", ("arming_state",), "arming state"),
    LogField(names.LANDED, "vehicle_land_detected", ("landed",)),
)  # fmt: skip

COMMANDS = {  # topics whose time is that of their publication: they were not measured
    "vehicle_rates_setpoint",
    "actuator_motors", "actuator_outputs", "vehicle_torque_setpoint", "vehicle_thrust_setpoint",
    "actuator_controls_0", "vehicle_local_position_setpoint", "trajectory_setpoint",
}  # fmt: skip
ROTORS_OF_TYPE = {2: 4, 13: 6, 14: 8}  # by MAV_TYPE
OTHER_VEHICLES = {
    1: "a fixed wing", 10: "a rover", 11: "a boat", 12: "a submarine", 19: "a VTOL", 20: "a VTOL",
    21: "a VTOL", 22: "a VTOL",
}  # fmt: skip
