# SPDX-License-Identifier: BSD-3-Clause
"""Recordings: run folders, bags and texts of poses, data sets of sensors with their maps, logs, and sweeps."""

from collections.abc import Mapping

from iap_bringup.fuzz.corpus import SWEEP
from iap_bringup.fuzz.kind import FREE, FileKind

IDENTIFY = ("--model", "second_order", "--no-plot", "--json")
TABLES = ("csv", "yaml", "json")
STUDY = (*SWEEP[1], "--vary", SWEEP[2], "--workers", "1", "--no-plot", "--json", "--out", "@")
OF_RUN = (
    ("plot", "@", "overview"),
    ("render", "@"),
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
KINDS: Mapping[str, FileKind] = {
    "recorded": FileKind(
        6, ("run/bag", "truth.csv", "truth.tum", "poses*"), (("replay", "@", *FREE),)
    ),
    "run": FileKind(8, ("run",), OF_RUN, ("log_1.csv",)),
    "modules_run": FileKind(
        3, ("modules_run",), (("plot", "@", "modules"),), (), ("npz", "yaml", "json")
    ),
    "arm_run": FileKind(3, ("arm_run",), (("plot", "@"),), (), TABLES),
    "euroc": FileKind(6, ("euroc",), (("localize", "@", "--json", "--no-plot"),)),
    "range map": FileKind(4, ("map.yaml",), (RANGES,), ("walk.bag",)),
    "ranges": FileKind(3, ("walk.bag",), (RANGES,), ("map.yaml",)),
    "log": FileKind(5, ("log_1.csv",), OF_LOG, ("log_2.csv",)),
    "matlab": FileKind(5, ("log_1.mat",), OF_MATLAB, ("log_2.mat",)),
    "sweep": FileKind(
        6, ("sweep",), (("sweep", SWEEP[0], *STUDY, "--seeds", str(SWEEP[3])),), (), TABLES
    ),
    "dataset": FileKind(
        3, ("dataset",), (("dataset", SWEEP[0], *STUDY, "--count", "1"),), (), TABLES
    ),
}  # fmt: skip
"""By name."""
