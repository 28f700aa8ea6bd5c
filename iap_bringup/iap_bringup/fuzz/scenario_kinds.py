# SPDX-License-Identifier: BSD-3-Clause
"""Files of what is flown: scenarios, sensors, worlds, platforms, arms, gains and plants."""

from collections.abc import Mapping

from iap_bringup.fuzz.kind import FLIGHT, FREE, FileKind

ARM = ("run", "arm_path", "--no-plot", "--json", "--set", "compare={}", "--set")
KINDS: Mapping[str, FileKind] = {
    "scenario": FileKind(16, ("scenario_*.yaml",), (("run", "@", *FLIGHT),)),
    "free": FileKind(12, ("scenario_[fht]*.yaml",), (("run", "@", *FREE),)),
    "resolved": FileKind(8, ("resolved_*.yaml",), (("run", "@", *FLIGHT),)),
    "mission": FileKind(6, ("scenario_module_*.yaml",), (("run", "@", *FLIGHT),)),
    "sensors": FileKind(6, ("sensors.yaml",), (("run", "@", *FREE),)),
    "anchors": FileKind(
        3, ("anchors.yaml",), (("run", "hover", *FREE, "--sensors", "uwb", "--set", "sensors.uwb.anchors=@"),)
    ),
    "gains": FileKind(4, ("gains.yaml",), (("run", "hover", *FREE, "--gains", "@"),)),
    "world": FileKind(
        6, ("world.yaml",), (("run", "@", *FREE), ("run", "@", *FLIGHT)), ("mesh.stl", "mesh.obj")
    ),
    "mesh": FileKind(
        5,
        ("mesh.stl", "mesh.obj"),
        (("run", "world.yaml", *FREE), ("run", "world.yaml", *FLIGHT)),
        ("mesh.stl", "mesh.obj", "world.yaml"),
    ),
    "platform": FileKind(
        12,
        ("platform_*.yaml",),
        (("run", "hover", *FREE, "--platform", "@"), ("list", "--platform", "@"), ("urdf", "@")),
    ),
    "arm": FileKind(4, ("arm_*.yaml",), (("run", "@", "--no-plot", "--json", "--set", "compare={}"),)),
    "links": FileKind(
        4,
        ("links.yaml",),
        (("run", "arm_hover_swing", *FLIGHT, "--platform", "armed.yaml"),),
        ("armed.yaml",),
    ),
    "plant": FileKind(4, ("plant_*.yaml",), ((*ARM, "plant.file=@", "--duration", "0.3"),)),
}  # fmt: skip
"""By name."""
