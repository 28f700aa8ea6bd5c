# SPDX-License-Identifier: BSD-3-Clause
"""A flight of modules in lines of text."""

from typing import Any

from iap_control.modules.losses import Loss


def modules_text(modules: dict[str, Any]) -> str:
    """Lines of what key `modules` of metrics.json says: one for each joint, and the largest wrench that was left."""
    lines = [_joint_text(name, joint) for name, joint in modules["joints"].items()]
    lost = modules["lost"]
    lines += [f"t = {each['t']:.3f} s: {Loss(**each)}" for each in lost]
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
