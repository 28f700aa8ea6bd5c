# SPDX-License-Identifier: BSD-3-Clause
"""A docking in a line of text."""

from typing import Any


def docking_text(docking: dict[str, Any]) -> str:
    """One line of what key `docking` of metrics.json says."""
    force = f"largest force {docking['force_peak_n']:.0f} N"
    caught = [event for event in docking["events"] if event["what"] == "caught"]
    if not caught:
        return f"docking: no latch caught, {force}"
    last = caught[-1]
    verdict = "docked" if docking["success"] else "caught"
    return (
        f"docking: {verdict} at {last['t_s']:.2f} s, {1e3 * last['depth_m']:.0f} mm deep,"
        f" {1e3 * last['radius_m']:.1f} mm off the axis, closing at {last['closing_mps']:.2f} m/s, {force}"
    )
