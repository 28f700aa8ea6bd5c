# SPDX-License-Identifier: BSD-3-Clause
"""A flight with an arm in lines of text."""

from typing import Any


def arm_text(arm: dict[str, Any], compare: dict[str, dict[str, Any]]) -> str:
    """What key `arm` of metrics.json says, of this flight and of those beside it, one line each."""
    flights = {"": arm} | {name: one["arm"] for name, one in compare.items() if "arm" in one}
    return "\n".join(_line(name, one) for name, one in flights.items())


def _line(name: str, arm: dict[str, Any]) -> str:
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
