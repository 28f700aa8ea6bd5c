# SPDX-License-Identifier: BSD-3-Clause
"""Bars of the flights of ``iap experiment engines``, as plain data.

A figure is named by where metrics.json has it (`iap_bringup.experiments.engine_figures.value`). Its bar is

- a number: at most that in either engine, as tests and pages ask of the scenario, or of its like, in PyBullet;
- two numbers: between them in either engine;
- None, where nothing is asked of one engine alone: in MuJoCo at most `SHARE` times PyBullet's figure, and `FLOORS`
  more.
"""

from math import inf

Bar = float | tuple[float, float] | None

SHARE = 1.1
# By the unit at the end of a figure's name, of what is all but zero or depends on the instant of a touch.
FLOORS = {
    "xyz": 1e-4,
    "rpy": 1e-4,
    "rad": 1e-4,
    "m": 1e-4,
    "deg": 0.01,
    "n": 0.05,
    "nm": 0.01,
    "s": 0.05,
}

TRACKED: dict[str, Bar] = {"position_rmse_m": 0.01, "attitude_rmse_deg": 0.25}
ALONG_A_LINE: dict[str, Bar] = {"position_rmse_m": 0.01, "axis_rmse_deg": 0.25}
AS_PYBULLET: dict[str, Bar] = {"position_rmse_m": None, "attitude_rmse_deg": None}
LINE_AS_PYBULLET: dict[str, Bar] = {"position_rmse_m": None, "axis_rmse_deg": None}
PUSHED: dict[str, Bar] = {
    "force_rmse_n": 0.2,
    "force_steady_n": None,
    "held_position_rmse_m": 0.02,
    "held_attitude_rmse_deg": 1.0,
}
DOCKED: dict[str, Bar] = {
    "docking.force_peak_n": 60.0,
    "docking.closing_speed_mps": 0.5,
    "docking.docking_time_s": None,
}

BARS: dict[str, dict[str, Bar]] = {
    "aircraft_lost": {"position_max_m": 0.05, **AS_PYBULLET},
    "arm_hover_swing": {"arm.base_rmse_m": 0.003},
    "arm_path_bodies": {"arm.tip_rmse_m": 0.002, "arm.base_rmse_m": 0.005},
    "arm_pick": {
        "arm.place_error_m": 0.02,
        "arm.base_rmse_m": 0.03,
        "arm.base_max_m": 0.06,
    },
    "arm_teleop": {"arm.tip_rmse_m": None, "arm.tip_max_m": 0.08, "arm.base_rmse_m": None},
    "arm_write": {"force_rmse_n": 0.2, "tip_path_rmse_m": 0.003},
    "arm_write_tip": {"force_rmse_n": 0.2, "tip_path_rmse_m": 0.003},
    "beetle_hover": AS_PYBULLET,
    "blind": {"position_max_m": None, **AS_PYBULLET},
    "docking": DOCKED,
    "docking_depth": DOCKED,
    "docking_hard": DOCKED,
    "figure_eight": TRACKED,
    "figure_eight_windy": {"position_rmse_m": 0.016, "attitude_rmse_deg": 2.0},
    "hover": {"position_rmse_m": 0.001, "attitude_rmse_deg": 0.05},
    "identification_flight": AS_PYBULLET,
    "identification_star": TRACKED,
    "module_assembly": {
        "modules.joints.*.force_after_catch_n": 0.2,
        "modules.joints.*.force_n": 0.1,
        "modules.joints.*.released.position_m": 0.006,
        "modules.rmse.*.xyz": 0.011,
        "modules.rmse.*.rpy": 0.008,
    },
    "module_docking": {
        "modules.joints.*.force_after_catch_n": 0.2,
        "modules.joint_force_n": 0.1,
        "modules.rmse.*.xyz": None,
        "modules.rmse.*.rpy": None,
    },
    "module_hover": {
        "modules.joint_force_n": 0.1,
        "modules.joint_torque_nm": 0.05,
        "modules.rmse_steady.m1.xyz": 0.004,
        "modules.rmse_steady.m1.rpy": 0.0035,
    },
    "module_lemniscate": {
        "modules.joint_force_n": 0.1,
        "modules.rmse.*.xyz": 0.005,
        "modules.rmse.*.rpy": None,
    },
    "module_release": {
        "modules.joints.*.released.position_m": 0.005,
        "modules.joints.*.released.rotation_rad": 0.005,
    },
    "module_square": {"modules.joint_force_n": 0.2, "modules.rmse_steady.m1.xyz": 0.004},
    "navigate": {"task.time_s": None, "task.distance_m": None},
    "navigate_moving": {"task.time_s": None, "task.distance_m": None},
    "open_door": {"force_max_n": 15.0, "first_contact_s": None},
    "peg_in_hole": {
        "settled_pitch_deg": (11.4, 12.6),
        "depth_m": (0.5, inf),
        "bore_offset_m": 0.015,
        "force_max_n": 20.0,
        "force_steady_n": None,
    },
    "perch_on_wall": {
        "force_max_n": (32.2, 32.6),  # its weight, 32.37 N
        "first_contact_s": None,
    },
    "push_button": {
        "force_max_n": 6.5,
        "held_position_rmse_m": 0.02,
    },
    "push_door": {"force_max_n": (8.0, 8.5), "first_contact_s": None},
    "push_object": {"force_max_n": (4.0, 4.5), "first_contact_s": None},
    "rotor_weakens": AS_PYBULLET,
    "slide_along_wall": PUSHED,
    "socket_push": {
        "force_rmse_n": 0.2,
        "torque_rmse_nm": 0.2,
        "force_steady_n": None,
        "held_attitude_rmse_deg": 1.0,
    },
    "socket_push_long": {"force_steady_n": None, "position_rmse_m": None},
    "three_line_5dof": ALONG_A_LINE,
    "three_line_figure_eight": LINE_AS_PYBULLET,
    "three_square_ramps": {"position_rmse_m": 0.02, "attitude_rmse_deg": 0.7},
    "three_star_spiral": TRACKED,
    "turn_valve": {"force_max_n": (25.2, 26.2), "first_contact_s": None},
    "two_line_circle": ALONG_A_LINE,
    "two_line_figure_eight": LINE_AS_PYBULLET,
    "two_platforms": {"vehicles.*.position_rmse_m": 0.01, "vehicles.*.attitude_rmse_deg": None},
    "velocity_steps": AS_PYBULLET,
    "wall_push": {**PUSHED, "force_max_n": 6.5, "approach_speed_max_mps": 0.1},
}

# Flown with --quick: for so many seconds, or to the end.
QUICK: dict[str, float | None] = {
    "arm_hover_swing": 6.0,
    "docking": None,
    "docking_hard": None,
    "figure_eight": 6.0,
    "figure_eight_windy": 6.0,
    "hover": 6.0,
    "push_button": None,
    "three_line_5dof": 6.0,
    "three_line_figure_eight": 6.0,
    "three_square_ramps": 6.0,
    "three_star_spiral": 6.0,
    "two_line_circle": 6.0,
    "two_line_figure_eight": 6.0,
    "two_platforms": 6.0,
    "velocity_steps": 6.0,
    "wall_push": None,
}
