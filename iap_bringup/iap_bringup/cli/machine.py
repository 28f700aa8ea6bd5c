# SPDX-License-Identifier: BSD-3-Clause
"""Equipment of a machine: processors, memory, graphics, codecs, a browser, a GPU and ROS 2."""

import os
import shutil
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from iap_bringup.cli.installed_versions import fits, installed_version

EGL: dict[str, Any] = {"backend": "egl"}
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - the place of POSIX shared memory
LEAST_SHARED = 64e6  # of shared memory that nodes with images need [bytes]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "firefox")
DRIVER = Path("/proc/driver/nvidia/version")
CODED = (".webm", ".mp4")  # suffixes of videos
ROS_PACKAGES = {  # that nodes and launch files use where they are there
    "iap_msgs": "no messages of the suite",
    "tf2_msgs": "no TF",
    "simulation_interfaces": "no services of simulation_interfaces",
    "cv_bridge": "images are converted by the suite",
    "launch_ros": "no launch files",
    "robot_state_publisher": "no frames of rotors and mounts",
    "rviz2": "no view in RViz",
    "joy": "no stick",
}


OLDEST_PIP = "20.3"  # that knows the tags of today's wheels


def environment() -> str:
    """The environment that packages go to, of venv, conda or the system; and a conda that is active beside it."""
    conda = os.environ.get("CONDA_PREFIX", "")
    if conda and Path(sys.prefix).resolve() == Path(conda).resolve():
        return f"conda, {conda}"
    kind = "the system's" if sys.prefix == sys.base_prefix else "venv"
    beside = f"; the active conda environment {conda} is not used" if conda else ""
    return f"{kind}, {sys.prefix}{beside}"


def pip() -> tuple[str, str]:
    """Version of pip, and what to do where it is too old or missing."""
    version = installed_version("pip")
    if not version:
        return "not installed", f"{sys.executable} -m ensurepip"
    fit = fits(version, f">={OLDEST_PIP}")
    state = version if fit else f"{version}, which knows no wheels of today"
    return state, "" if fit else f"{sys.executable} -m pip install --upgrade pip"


def compiler() -> str:
    """Path of the compiler of C++ that a set-up calls; empty where there is none."""
    return shutil.which(os.environ.get("CXX", "g++")) or ""


def processors() -> str:
    """Number of processors that this process may use, and memory."""
    count = len(os.sched_getaffinity(0))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return f"{count}, {memory / 1e9:.1f} GB of memory"


def shared_memory() -> tuple[str, str]:
    """Free shared memory, which nodes exchange images by, and what to do where it is too small."""
    if not SHARED_MEMORY.is_dir():
        return "none", "mount a tmpfs at /dev/shm"
    free = shutil.disk_usage(SHARED_MEMORY).free
    remedy = "" if free >= LEAST_SHARED else "docker run --shm-size=256m, or a larger /dev/shm"
    return f"{free / 1e6:.0f} MB free", remedy


def kernel_cache() -> tuple[str, str]:
    """Number of compiled kernels that are kept, and what to do where none can be."""
    folder = os.environ.get("NUMBA_CACHE_DIR")
    if folder is None:
        return "kept beside their sources, or in the user's cache", ""
    path = Path(folder)
    if path.is_dir() and not os.access(path, os.W_OK):
        return f"{folder} cannot be written", f"chmod u+w {folder}, or set NUMBA_CACHE_DIR"
    return f"{sum(1 for _ in path.rglob('*.nbc'))} in {folder}", ""


def graphics() -> tuple[str, bool]:
    """OpenGL's driver without a window, and whether it works."""
    if find_spec("moderngl") is None:
        return "moderngl is not installed", False
    import moderngl

    try:
        context = moderngl.create_standalone_context(**EGL)
    except Exception as error:  # noqa: BLE001 - drivers raise anything
        return f"does not work: {str(error).splitlines()[0]}", False
    words = str(context.info["GL_RENDERER"])
    context.release()
    return words, True


def video_codecs() -> list[str]:
    """Suffixes of videos that OpenCV can encode here."""
    if find_spec("cv2") is None:
        return []
    from iap_description.errors import BadInput
    from iap_simulation.runs.video_file import VideoFile

    suffixes = []
    with tempfile.TemporaryDirectory() as folder:
        for suffix in CODED:
            try:
                with VideoFile(Path(folder, f"film{suffix}"), 25.0, (64, 64)):
                    suffixes.append(suffix)
            except BadInput:
                continue
    return suffixes


def browser() -> str:
    """Path of a browser; empty where there is none."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), "")


def cuda_driver() -> str:
    """Version of the NVIDIA driver; empty without one."""
    if not DRIVER.is_file():
        return ""
    words = DRIVER.read_text(encoding="utf-8").splitlines()[0].split()
    return next((word for word in words if word[:1].isdigit()), "there")


def ros_underlay() -> str:
    """Version of rclpy and where it comes from; empty without it."""
    spec = find_spec("rclpy")
    if spec is None or spec.origin is None:
        return ""
    distro = os.environ.get("ROS_DISTRO")
    source = f"ROS 2 {distro}" if distro else f"wheels, {Path(spec.origin).parents[1]}"
    return f"{source}, {os.environ.get('RMW_IMPLEMENTATION', 'default middleware')}"


def ros_packages() -> dict[str, tuple[str, str]]:
    """For each of `ROS_PACKAGES`: "installed" or an empty text, and what is missing without it."""
    prefixes = [Path(each) for each in os.environ.get("AMENT_PREFIX_PATH", "").split(":") if each]
    index = Path("share/ament_index/resource_index/packages")
    return {
        name: (
            "installed" if any((each / index / name).exists() for each in prefixes) else "",
            use,
        )
        for name, use in ROS_PACKAGES.items()
    }
