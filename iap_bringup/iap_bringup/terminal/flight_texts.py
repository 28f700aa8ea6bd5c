# SPDX-License-Identifier: BSD-3-Clause
"""Lines of text about a flight: an arm's, a docking's, modules'."""

from typing import Any

from iap_control.modules.losses import ModuleLoss


def arm_text(arm: dict[str, Any], compare: dict[str, dict[str, Any]]) -> str:
    """What key `arm` of metrics.json says, of this flight and of those beside it, one line each."""
    flights = {"": arm} | {name: one["arm"] for name, one in compare.items() if "arm" in one}
    return "\n".join(_arm_line(name, one) for name, one in flights.items())


def _arm_line(name: str, arm: dict[str, Any]) -> str:
    parts = [
        f"{what} {1e3 * arm[f'{key}_rmse_m']:.1f} mm RMS, largest {1e3 * arm[f'{key}_max_m']:.1f} mm"
        for key, what in (("base", "platform"), ("tip", "end effector"))
        if arm.get(f"{key}_rmse_m") is not None
    ]
    if "picked" in arm:
        off = arm["place_error_m"]
        parts.append(f"object placed {1e3 * off:.1f} mm off" if off is not None else "object lost")
    clipped = {joint: count for joint, count in arm["clipped_commands"].items() if count}
    if clipped:
        counts = ", ".join(f"{count} to {joint}" for joint, count in clipped.items())
        parts.append(f"commands beyond the arm's limits, and clipped: {counts}")
    return f"arm{f', {name}' if name else ''}: {'; '.join(parts) or 'nothing was flown in the window'}"


def docking_text(docking: dict[str, Any]) -> str:
    """One line of what key `docking` of metrics.json says."""
    force = f"largest force {docking['force_peak_n']:.0f} N"
    caught = [event for event in docking["events"] if event["what"] == "caught"]
    if not caught:
        return f"docking: no latch caught, {force}"
    last = caught[-1]
    result = "docked" if docking["success"] else "caught"
    return (
        f"docking: {result} at {last['t_s']:.2f} s, {1e3 * last['depth_m']:.0f} mm deep,"
        f" {1e3 * last['radius_m']:.1f} mm off the axis, closing at {last['closing_mps']:.2f} m/s, {force}"
    )


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
        parts.append("never joined" if joint["force_n"] is None else "joined from the start")
    if joint["returns"]:
        parts.append(f"after {joint['returns']} lost approaches")
    if released is not None:
        parts.append(f"and released at {released:.2f} s")
    return " ".join(parts)
