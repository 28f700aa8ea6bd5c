# SPDX-License-Identifier: BSD-3-Clause
"""Texts about a flight of modules."""

import io

from rich.console import Console

from iap_bringup.terminal.flight import show_notice
from iap_bringup.terminal.localization import covariance_hints
from iap_bringup.terminal.part_texts import arm_text, modules_text
from iap_io.runs.fault_meta import Notice


def joint(**keys):
    return {"returns": 0, "force_n": 0.01, "caught_s": None, "released_s": None, **keys}


def test_each_joint_has_a_line_and_the_largest_wrench_ends_them() -> None:
    joints = {
        "a": joint(caught_s=11.654, returns=2, released_s=59.2),
        "b": joint(),
        "c": joint(force_n=None),
    }
    text = modules_text(
        {
            "joints": joints,
            "lost": [{"t": 20.05, "module": "m2", "leader": "m1"}],
            "joint_force_n": 0.01,
            "joint_torque_nm": 0.0005,
        }
    )
    assert text.splitlines() == [
        "joint a: caught at 11.65 s after 2 lost approaches and released at 59.20 s",
        "joint b: joined from the start",
        "joint c: not joined while errors count",
        "t = 20.050 s: module 'm2': lost, 'm1' leads",
        "modules: largest mean wrench in a joint 0.010 N, 0.0005 N m",
    ]


def test_a_module_alone_has_no_wrench_to_tell_of() -> None:
    assert (
        modules_text({"joints": {}, "lost": [], "joint_force_n": None, "joint_torque_nm": None})
        == ""
    )


def test_covariances_that_say_less_or_more_than_the_errors_are_named() -> None:
    estimation = {
        "aircraft": {"vio": {"nees_position": 44.0}, "uwb": {"nees_position": 1.3}, "still": {}},
        "drone_2": {"vio": {"nees_position": 0.04}, "joint": {"nees_position": None}},
    }
    small, large = covariance_hints(estimation)
    assert small.startswith("aircraft, vio: errors are 6.63 times what its covariances say")
    assert large.startswith("drone_2, vio: errors are 0.2") and "too large" in large


def test_an_arm_has_its_errors_in_mm_and_the_commands_that_were_beyond_its_limits() -> None:
    known = {"base_rmse_m": 0.0123, "base_max_m": 0.03, "tip_rmse_m": 0.001, "tip_max_m": 0.002}
    clipped = {"clipped_commands": {"elbow": 3, "wrist": 0}}
    arm = {**known, **clipped}
    still = {"clipped_commands": {"elbow": 0}}
    words = "commands beyond the arm's limits, and clipped: 3 to elbow"
    base = "platform 12.3 mm RMS, largest 30.0 mm"
    tip = "end effector 1.0 mm RMS, largest 2.0 mm"
    assert arm_text({"arm": arm}) == f"arm: {base}; {tip}; {words}"
    along_path = {"arm": arm, "tip_path_rmse_m": 0.001}
    assert arm_text(along_path) == f"arm: {tip}; {words}"
    beside = {"compare": {"rigid": {"arm": arm}, "without": {}}}
    assert arm_text({"arm": still, **beside}).splitlines() == [
        "",
        f"arm, rigid: {base}; {tip}; {words}",
    ]
    assert arm_text({"arm": {"joint_range_rad": 1.0}}) == ""


def test_a_notice_is_a_warning_only_where_the_platform_will_come_down() -> None:
    for is_warning, words in ((True, "warning: rotor 2 stops"), (False, "rotor 2 stops")):
        console, colored = (
            Console(file=io.StringIO(), width=80, force_terminal=is_shown, color_system=color)
            for is_shown, color in ((False, None), (True, "standard"))
        )
        for each in (console, colored):
            show_notice(each, Notice(1.0, "rotor 2 stops", is_warning))
        assert console.file.getvalue() == f"{words}\n"
        assert ("\x1b[" in colored.file.getvalue()) == is_warning
