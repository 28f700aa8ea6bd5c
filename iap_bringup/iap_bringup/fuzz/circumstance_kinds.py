# SPDX-License-Identifier: BSD-3-Clause
"""Sound commands in odd circumstances: a signal at any moment, a full disk or few open files, odd variables."""

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from random import Random

from iap_bringup.fuzz.corpus import DURATION, Corpus
from iap_bringup.fuzz.kind import FREE, CommandLine
from iap_bringup.fuzz.trials import Circumstances

SOUND: Mapping[str, tuple[str, ...]] = {
    "run": ("run", "hover", "--duration", "1", "--no-plot"),
    "docking": ("run", "docking", "--duration", "0.5", "--no-plot"),
    "modules": ("run", "module_hover", "--duration", str(DURATION)),
    "replay": ("replay", "truth.csv", "--duration", "1"),
    "sweep": ("sweep", "hover", "--duration", str(DURATION), "--seeds", "3", "--workers", "1"),
    "dataset": ("dataset", "hover", "--duration", str(DURATION), "--count", "2", "--workers", "1"),
    "evaluate": ("evaluate", "hold", "--episodes", "4"),
    "localize": ("localize", "euroc"),
    "ranges": ("localize", "walk.bag", "--map", "map.yaml", "--method", "uwb"),
    "identify": ("identify", "log_1.csv", "log_2.csv", "--model", "second_order"),
    "train": ("train", "hold", "--steps", "256", "--offline", "none"),
    "plot": ("plot", "run", "overview"),
    "render": ("render", "run"),
}
"""Command lines whose input comes from the corpus."""
FILES = ("truth.csv", "euroc", "walk.bag", "map.yaml", "log_1.csv", "log_2.csv", "run")
WITH_PROCESSES = {"sweep", "dataset"}  # of their own
MAX_DELAY = 6.0  # after which a signal comes [s]
OPEN_FILES = (8, 16, 24, 40)
# Of a file [B]; what a command says goes to a file, too, where its line must fit.
SIZES = (1000, 3000, 20_000, 300_000)
COMMANDS = (
    ("list",),
    ("urdf", "f450"),
    ("run", "hover", *FREE),
    ("evaluate", "hold", "--episodes", "1", "--json"),
)
UNCOMPILED = 2  # of these, the first: others would compile all kernels anew where NUMBA_CACHE_DIR is another
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


def _sound(corpus: Corpus, home: Path, rng: Random) -> list[str]:
    """A sound command line whose files lie in a folder."""
    arguments = list(SOUND[rng.choice(sorted(SOUND))])
    used = set(FILES).intersection(arguments)
    if arguments[0] not in WITH_PROCESSES:
        corpus.load(arguments, [corpus[name][0] for name in used])
    for name in used:
        corpus.copied(corpus[name][0], home)
    return arguments


class InterruptKind:
    """Ctrl-C or SIGTERM at a moment of a command."""

    share = 6
    verbs = frozenset(each[0] for each in SOUND.values())

    def draw(self, corpus: Corpus, home: Path, rng: Random) -> CommandLine:
        """A command, and its signal."""
        number = rng.choice((signal.SIGINT, signal.SIGTERM))
        after = rng.uniform(0.0, 1.0) ** 2 * MAX_DELAY  # more of them early, where each is short
        return CommandLine(_sound(corpus, home, rng), Circumstances(interrupt=(number, after)))


class LimitKind:
    """A disk that is full, or few open files."""

    share = 4
    verbs = InterruptKind.verbs - {"train"}  # whose library ends the process without open files

    def draw(self, corpus: Corpus, home: Path, rng: Random) -> CommandLine:
        """A command within a limit."""
        arguments = _sound(corpus, home, rng)
        while arguments[0] not in self.verbs:
            arguments = _sound(corpus, home, rng)
        name = rng.choice(("FSIZE", "NOFILE"))
        limits = {name: rng.choice(SIZES if name == "FSIZE" else OPEN_FILES)}
        return CommandLine(arguments, Circumstances(limits=limits))


class EnvironmentKind:
    """A sound command with one or two such variables."""

    share = 2
    verbs = frozenset(each[0] for each in COMMANDS)

    def draw(self, corpus: Corpus, home: Path, rng: Random) -> CommandLine:
        """A command in its environment."""
        names = rng.sample(VARIABLES, rng.randint(1, 2))
        changed = {name: rng.choice(UNREADABLE.get(name, WORDS)) for name in names}
        commands = COMMANDS[:UNCOMPILED] if "NUMBA_CACHE_DIR" in changed else COMMANDS
        return CommandLine(list(rng.choice(commands)), Circumstances({**os.environ, **changed}))
