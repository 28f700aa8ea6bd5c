# SPDX-License-Identifier: BSD-3-Clause
"""Variables of the environment that name no place, no number and no encoding, in a process that starts with them."""

import os
from pathlib import Path
from random import Random

from iap_bringup.fuzz.corpus import Corpus
from iap_bringup.fuzz.kind import FREE, Command
from iap_bringup.fuzz.trials import Circumstances

COMMANDS = (
    ("list",),
    ("run", "hover", *FREE),
    ("urdf", "f450"),
    ("evaluate", "hold", "--episodes", "1", "--json"),
)
VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "COLUMNS", "LINES", "TERM", "NO_COLOR", "FORCE_COLOR", "LANG", "LC_ALL",
    "TMPDIR", "HOME", "XDG_CACHE_HOME", "MPLCONFIGDIR", "DISPLAY", "AMENT_PREFIX_PATH", "ROS_DOMAIN_ID",
    "NUMBA_CACHE_DIR", "IAP_CALLERS_PYTHONPATH", "TZ", "PYTHONIOENCODING", "XLA_FLAGS", "MUJOCO_GL",
)  # fmt: skip
WORDS = (
    "",
    "x",
    "-1",
    "0",
    "1e308",
    "9" * 30,
    "/proc/none",
    "/dev/full",
    ":",
    ".",
    "ä",
    "C",
    "dumb",
    "\udcff",
)
UNREADABLE = {
    "PYTHONIOENCODING": ("utf-8", "ascii", "latin-1")
}  # an unknown one ends Python itself


class EnvironmentKind:
    """A sound command with one or two such variables."""

    share = 2
    verbs = frozenset(each[0] for each in COMMANDS)

    def draw(self, corpus: Corpus, home: Path, rng: Random) -> Command:
        """A command in its environment."""
        names = rng.sample(VARIABLES, rng.randint(1, 2))
        changed = {name: rng.choice(UNREADABLE.get(name, WORDS)) for name in names}
        return Command(list(rng.choice(COMMANDS)), Circumstances({**os.environ, **changed}))
