# SPDX-License-Identifier: BSD-3-Clause
"""Lines and tables on the terminal about parts of a flight: arms, modules, landings, images."""

from collections.abc import Callable, Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from iap_control.modules.losses import ModuleLoss

Metrics = dict[str, Any]


def arm_text(metrics: Metrics) -> str:
    """Lines of key `arm` of metrics.json, of this flight and of those beside it, one line each."""
    arm, compare = metrics["arm"], metrics.get("compare", {})
    if "joint_range_rad" in arm:  # a path, which has tables of its own
        return ""
    flights = {"": arm} | {name: one["arm"] for name, one in compare.items() if "arm" in one}
    moves = metrics.get("tip_path_rmse_m") is not None
    return "\n".join(_arm_line(name, one, moves=moves) for name, one in flights.items())


def _arm_line(name: str, arm: Metrics, *, moves: bool) -> str:
    """A line; a platform that moves so that its tip follows a path has no error of its own."""
    bodies = (
        [("tip", "end effector")] if moves else [("base", "platform"), ("tip", "end effector")]
    )
    parts = [
        f"{what} {1e3 * arm[f'{key}_rmse_m']:.1f} mm RMS, largest {1e3 * arm[f'{key}_max_m']:.1f} mm"
        for key, what in bodies
        if arm.get(f"{key}_rmse_m") is not None
    ]
    clipped = {joint: count for joint, count in arm["clipped_commands"].items() if count}
    if clipped:
        counts = ", ".join(f"{count} to {joint}" for joint, count in clipped.items())
        parts.append(f"commands beyond the arm's limits, and clipped: {counts}")
    return f"arm{f', {name}' if name else ''}: {'; '.join(parts)}" if parts else ""


def modules_text(modules: dict[str, Any]) -> str:
    """Lines of what key `modules` of metrics.json says: one for each joint, and the largest wrench that was left."""
    lines = [_joint_text(name, joint) for name, joint in modules["joints"].items()]
    lost = modules["lost"]
    lines += [f"t = {each['t']:.3f} s: {ModuleLoss(**each)}" for each in lost]
    force, torque = modules["joint_force_n"], modules["joint_torque_nm"]
    if force is not None and torque is not None:
        lines.append(f"modules: largest mean wrench in a joint {force:.3f} N, {torque:.4f} N m")
    return "\n".join(lines)


def _joint_text(name: str, joint: dict[str, Any]) -> str:
    parts = [f"joint {name}:"]
    caught, released = joint["caught_s"], joint["released_s"]
    if caught is not None:
        parts.append(f"caught at {caught:.2f} s")
    else:
        is_joined = joint["force_n"] is not None
        parts.append("joined from the start" if is_joined else "not joined while errors count")
    if joint["returns"]:
        parts.append(f"after {joint['returns']} lost approaches")
    if released is not None:
        parts.append(f"and released at {released:.2f} s")
    return " ".join(parts)


def landing_text(landing: dict[str, Any]) -> str:
    """Lines of key `landing` of metrics.json, one for each vehicle that came down."""
    return "\n".join(_landing_line(name, one) for name, one in landing["vehicles"].items())


def _landing_line(name: str, landing: dict[str, Any]) -> str:
    cut, end = landing["cut_height_m"], "still turning at the end"
    if cut is not None:
        end = f"ended {1e3 * max(cut, 0.0):.0f} mm above the ground"
    stands = "stands" if landing["stands"] else "does not stand"
    return (
        f"{name} touched the ground at {landing['touch_speed_mps']:.2f} m/s, largest force of 5 ms"
        f" {landing['force_n']:.0f} N, rotors {end}; it {stands}"
    )


def _images_text(metrics: Metrics) -> str:
    return f"{metrics['images']} images, {metrics['images_per_s']:.0f} in a second of rendering"


def _collision_text(metrics: Metrics) -> str:
    return "\n".join(
        f"collision at {each['t_s']:.3f} s: {' and '.join(each['vehicles'])}"
        for each in metrics["collisions"]
    )


TEXTS: Mapping[str, Callable[[Metrics], str]] = {  # by keys of metrics.json
    "arm": arm_text,
    "modules": lambda metrics: modules_text(metrics["modules"]),
    "landing": lambda metrics: landing_text(metrics["landing"]),
    "collisions": _collision_text,
    "images": _images_text,
}


def show_end_effector(console: Console, arm: dict[str, Any], compare: dict[str, Any]) -> None:
    """The table of key `arm` of metrics.json beside flights that it is compared with, and commands that were cut."""
    flights = {"this flight": arm, **{name: one.get("arm", {}) for name, one in compare.items()}}
    console.print(_error_table(flights, arm["published_rmse_m"]))
    for joint, count in arm["clipped_commands"].items():
        if count:
            console.print(
                f"{joint}: {count} commands were beyond the arm's limits and cut to them"
            )


def _error_table(flights: Mapping[str, dict[str, Any]], published: list[float]) -> Table:
    table = Table("end effector, RMSE in mm", "x", "y", "z", "distance", "largest")
    for name, arm in flights.items():
        xyz = arm.get("position_rmse_xyz_m") or [None] * 3
        cells = [_text(value) for value in (*xyz, arm.get("position_rmse_m"))]
        table.add_row(name, *cells, _text(arm.get("position_max_m")))
    for number, value in enumerate(published, 1):
        table.add_row(f"recorded flight {number}", "", "", "", _text(value), "")
    return table


def _text(value: float | None) -> str:
    return "-" if value is None else f"{1e3 * value:.1f}"
