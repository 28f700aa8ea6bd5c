# SPDX-License-Identifier: BSD-3-Clause
"""The table of all kinds of input (what is flown, learning, recordings, circumstances), and a case of one of them."""

from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import NamedTuple

from iap_bringup.fuzz.circumstance_kinds import EnvironmentKind, InterruptKind, LimitKind
from iap_bringup.fuzz.corpus import MAKING, SWEEP, Corpus
from iap_bringup.fuzz.kind import EPISODE, FLIGHT, FREE, CommandLine, FileKind, Kind
from iap_bringup.fuzz.option_kind import OptionKind
from iap_bringup.fuzz.setting_kind import OtherSettingKind, SettingKind

ARM = ("run", "arm_path", "--no-plot", "--json", "--set", "compare={}", "--set")
ASSETS = ("--set", "world.objects={things: {preset: assets, folder: @, contact: hulls}}")
SEEN = ("run", "hover", *FREE, "--sensors", "stereo")
SCENARIO_KINDS: Mapping[str, FileKind] = {
    "scenario": FileKind(16, ("scenario_*.yaml",), (("run", "@", *FLIGHT),)),
    "free": FileKind(12, ("scenario_[fht]*.yaml",), (("run", "@", *FREE),)),
    "resolved": FileKind(8, ("resolved_*.yaml",), (("run", "@", *FLIGHT),)),
    "mission": FileKind(6, ("scenario_module_*.yaml",), (("run", "@", *FLIGHT),)),
    "sensors": FileKind(6, ("sensors.yaml",), (("run", "@", *FREE),)),
    "images": FileKind(
        4, ("images_*.yaml",), (("run", "@", *FREE),), in_a_fork=True
    ),
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
    "scene": FileKind(
        5,
        ("scene",),
        (("run", "hover", *FLIGHT, "--sensors", "lidar", "--scene", "@/scene.yaml"),),
        (),
        ("yaml", "glb", "gltf", "bin", "obj", "ply", "png", "npy"),
    ),
    "assets": FileKind(
        4,
        ("assets",),
        (("run", "hover", *FREE, *ASSETS, "--sensors", "lidar"), ("run", "hover", *FLIGHT, *ASSETS)),
        (),
        ("urdf", "glb", "gltf", "bin", "obj", "ply", "stl", "off"),
    ),
    "sky": FileKind(
        1,
        ("scene",),
        ((*SEEN, "--set", "renderer=physical", "--set", "world.light={sky: @/sky.hdr}"),),
        (),
        ("hdr",),
        in_a_fork=True,
    ),
    "platform": FileKind(
        12,
        ("platform_*.yaml",),
        (("run", "hover", *FREE, "--platform", "@"), ("list", "--platform", "@"), ("urdf", "@")),
    ),
    "vehicle": FileKind(5, ("vehicle.*",), (("import", "@"), ("import", "@", "--make-physical"))),
    "arm": FileKind(4, ("arm_*.yaml",), (("run", "@", "--no-plot", "--json", "--set", "compare={}"),)),
    "links": FileKind(
        4,
        ("links.yaml",),
        (("run", "arm_hover_swing", *FLIGHT, "--platform", "armed.yaml"),),
        ("armed.yaml",),
    ),
    "plant": FileKind(4, ("plant_*.yaml",), ((*ARM, "plant.file=@", "--duration", "0.3"),)),
}  # fmt: skip

OF_TASK = tuple(("evaluate", name, "--task", "@", *EPISODE) for name in ("hold", "script"))
OF_POLICY = (("evaluate", "@", *EPISODE), ("run", "hover", *FREE, "--set", "policy=@"))
OF_EXPERT = (
    ("evaluate", "@", "--task", "docking", *EPISODE),
    ("dataset", "docking", "--policy", "@", "--episodes", "1", "--json"),
)
# Few worlds and no imitation: those that touch would fly for minutes of the processor to judge one policy.
SMALL = ("--set", "worlds=4", "--set", "dagger=null")
TRAIN = ("train", "@", "--steps", "64", "--offline", "none", *SMALL)
LEARNING_KINDS: Mapping[str, FileKind] = {
    "task": FileKind(8, ("task_*.yaml",), OF_TASK),
    "expert": FileKind(4, ("expert_*script*.yaml", "expert_*funnel.yaml"), OF_EXPERT),
    "experiment": FileKind(2, ("experiment_*.yaml",), (TRAIN,)),
    "training": FileKind(2, ("training",), (("train", "--resume", "@"),)),
    "policy": FileKind(10, ("hold*.npz", "navigate.npz"), OF_POLICY),
    "policy of dockings": FileKind(3, ("docking_nominal.npz",), OF_POLICY[:1]),
}

IDENTIFY = ("--model", "second_order", "--no-plot", "--json")
TABLES = ("csv", "yaml", "json")
STUDY = (*SWEEP[1], "--vary", SWEEP[2], "--workers", "1", "--no-plot", "--json", "--out", "@")
OF_RUN = (
    ("plot", "@", "overview"),
    ("identify", "@", "log_1.csv", *IDENTIFY),
    ("replay", "@/bag", *FREE),
)
OF_LOG = (
    ("identify", "@", "log_2.csv", *IDENTIFY),
    ("identify", "@", "log_2.csv", "--model", "dynamic", "--no-plot", "--json"),
)
OF_MATLAB = (
    ("identify", "@", "log_2.mat", *IDENTIFY),
    ("identify", "@", "log_2.mat", *IDENTIFY, "--set", "clock=measured"),
)
RANGES = ("localize", "walk.bag", "--map", "map.yaml", "--method", "uwb", "--json", "--no-plot")
COMMANDED, MEASURED = ("--wrench-topic", "/wrench"), ("--actual-wrench-topic", "/felt")
WRENCHES = (
    ("--topic", "/truth", *COMMANDED, *MEASURED, "--actual-topic", "/flown"),
    ("--topic", "/truth", *COMMANDED, "--wrench-use", "feed_forward", "--wrench-frame", "body"),
    ("--topic", "/truth", *COMMANDED, "--wrench-use", "open_loop", "--wrench-frame", "world"),
)
RECORDING_KINDS: Mapping[str, FileKind] = {
    "recorded": FileKind(
        6, ("run/bag", "truth.csv", "truth.tum", "poses*"), (("replay", "@", *FREE),)
    ),
    "run": FileKind(8, ("run",), OF_RUN, ("log_1.csv",)),
    "picture": FileKind(1, ("run",), (("render", "@"),)),
    "modules_run": FileKind(
        3, ("modules_run",), (("plot", "@", "modules"),), (), ("npz", "yaml", "json")
    ),
    "arm_run": FileKind(3, ("arm_run",), (("plot", "@"),), (), TABLES),
    "euroc": FileKind(6, ("euroc",), (("localize", "@", "--json", "--no-plot"),)),
    "range map": FileKind(4, ("map.yaml",), (RANGES,), ("walk.bag",)),
    "ranges": FileKind(3, ("walk.bag",), (RANGES,), ("map.yaml",)),
    "wrenches": FileKind(5, ("wrenches*",), tuple(("replay", "@", *FREE, *each) for each in WRENCHES)),
    "flight log": FileKind(8, ("flight*",), (("inspect", "@", "--json"), ("replay", "@", *FREE))),
    "log": FileKind(5, ("log_1.csv",), OF_LOG, ("log_2.csv",)),
    "matlab": FileKind(5, ("log_1.mat",), OF_MATLAB, ("log_2.mat",)),
    "sweep": FileKind(
        6, ("sweep",), (("sweep", SWEEP[0], *STUDY, "--seeds", str(SWEEP[3])),), (), TABLES
    ),
    "dataset": FileKind(
        3, ("dataset",), (("dataset", SWEEP[0], *STUDY, "--count", "1"),), (), TABLES
    ),
}  # fmt: skip

OUT = "o"  # folder that a case makes
KINDS: Mapping[str, Kind] = {
    **SCENARIO_KINDS,
    **LEARNING_KINDS,
    **RECORDING_KINDS,
    "set": SettingKind(),
    "settings": OtherSettingKind(),
    "options": OptionKind(),
    "environment": EnvironmentKind(),
    "interrupts": InterruptKind(),
    "limits": LimitKind(),
}
"""By name."""


class Case(NamedTuple):
    """A command on damaged input.

    Attributes:
        kind: name of its kind.
        command: it, and what happens to it.
        out: the folder that it makes; None where it makes none, or goes on with one.
    """

    kind: str
    command: CommandLine
    out: Path | None


def drawn_kind(rng: Random) -> str:
    """The name of a kind, by their shares."""
    return rng.choices(list(KINDS), [kind.share for kind in KINDS.values()])[0]


def make_case(name: str, corpus: Corpus, home: Path, rng: Random) -> Case:
    """Damage a copy of sound input of a kind in an empty folder."""
    command = KINDS[name].draw(corpus, home, rng)
    named = any(each.startswith(("--out", "--resume")) for each in command.arguments)
    if command.arguments[0] not in MAKING or named:
        return Case(name, command, None)
    command = command._replace(arguments=[*command.arguments, "--out", OUT])
    return Case(name, command, home / OUT)
