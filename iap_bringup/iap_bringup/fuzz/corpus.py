# SPDX-License-Identifier: BSD-3-Clause
"""Sound input of every kind, which is damaged afterwards: made by commands, as users make it, or by formulas."""

import argparse
import contextlib
import io
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from iap_bringup.fuzz import made_logs, made_models, made_recordings, made_texts
from iap_bringup.fuzz.trials import Main, run_command
from iap_description.errors import IapError
from iap_learning.policies.policy import SHIPPED
from iap_simulation.scenario.resolving import Options
from iap_simulation.sweeps.flying import RecordedChunks, fly
from iap_simulation.sweeps.study import Axis, Study
from iap_simulation.sweeps.sweep import chunks_of
from iap_simulation.sweeps.sweep_folder import SweepFolder

DURATION = 0.03  # of a flight [s]
IN_A_FORK = {"train", "render"}  # JAX and renderers have threads, which no fork may inherit
MAKING = {
    "run",
    "replay",
    "sweep",
    "dataset",
    "evaluate",
    "train",
    "localize",
    "identify",
    "render",
}  # what makes a folder
INTERRUPTED = 128  # and beyond: exit codes by the number of a signal
SWEEP = ("hover", ("--engine", "closed_form", "--duration", str(DURATION)), "wind.speed=0,1", 3)

ParserOf = Callable[[list[str]], argparse.ArgumentParser]


class Corpus:
    """Sound input in a folder, a name for each kind, made when it is first asked for.

    Args:
        main: the program.
        parser_of: makes the parser of a command line.
        home: the folder.
    """

    def __init__(self, main: Main, parser_of: ParserOf, home: Path) -> None:
        self._main, self.parser_of, self.home = main, parser_of, home
        self._made, self._loaded = set[str](), set[tuple[str, ...]]()

    def __getitem__(self, pattern: str) -> list[Path]:
        """All sound files or folders whose names fit."""
        name = next((each for each in _MADE_BY if pattern.startswith(each)), "")
        if name not in self._made:
            self._made.add(name)
            self._make(name)
        return sorted(self.home.glob(pattern))

    @staticmethod
    def copied(path: Path, home: Path) -> Path:
        """A copy of a file or folder in another folder."""
        copy = home / path.name
        return Path(shutil.copytree(path, copy) if path.is_dir() else shutil.copy(path, copy))

    def load(self, arguments: Sequence[str], inputs: Iterable[Path]) -> None:
        """Run a sound command once in this process, whose forks begin with its modules and compiled code.

        Args:
            arguments: of ``iap``.
            inputs: files and folders that it reads, of which it gets copies in a folder of its own.
        """
        if tuple(arguments) in self._loaded or arguments[0] in IN_A_FORK:
            return
        self._loaded.add(tuple(arguments))
        out = ["--out", "o"] if arguments[0] in MAKING and "--out" not in arguments else []
        output = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            for each in inputs:
                self.copied(each, Path(folder))
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
                code = self._main([*arguments, *out])
        if code >= INTERRUPTED:
            raise KeyboardInterrupt

    def _make(self, name: str) -> None:
        made = _MADE_BY.get(name, _make_files)
        if callable(made):
            made(self.home)
        else:
            _call(self._main, [*made, "--out", str(self.home / name)], self.home)


def _make_files(home: Path) -> None:
    """Texts, and the policies that ship."""
    made_texts.write(home)
    for path in SHIPPED.glob("*.npz"):
        (home / path.name).write_bytes(path.read_bytes())


def _make_sweep(home: Path) -> None:
    """A sweep that is done, flown in this process."""
    _fly_all(home / "sweep", records=False)


def _make_dataset(home: Path) -> None:
    """Recordings of the same flights."""
    _fly_all(home / "dataset", records=True)


def _fly_all(out: Path, *, records: bool) -> None:
    scenario, _, vary, seeds = SWEEP
    options = Options(engine="closed_form", duration=DURATION)
    study = Study(scenario, options, (Axis.of(vary),), 1 if records else seeds, records)
    points = study.points()
    folder = SweepFolder.open(out, study, points)
    for point in points:
        for chunk in chunks_of(study, point):
            fly_chunk = RecordedChunks(folder.runs).fly if records else fly
            folder.add(chunk.name, fly_chunk(chunk))


Making = Callable[[Path], None] | tuple[str, ...]
_MADE_BY: Mapping[str, Making] = {
    "run": ("run", "hover", "--duration", "0.1", "--engine", "closed_form", "--no-plot"),
    "modules_run": ("run", "module_hover", "--duration", "0.1", "--no-plot"),
    "arm_run": ("run", "arm_path", "--duration", "11", "--set", "compare={}", "--no-plot"),
    "training": ("train", "hold", "--steps", "64", "--offline", "none"),  # by IN_A_FORK
    "sweep": _make_sweep,
    "dataset": _make_dataset,
    "euroc": made_recordings.write_damageable_euroc,
    "walk.bag": made_recordings.write_range_bag,
    "poses": made_recordings.write_pose_bags,
    "wrenches": made_recordings.write_wrench_bag,
    "flight": made_logs.write_all,
    "vehicle": made_models.write_vehicles,
    "scene": made_models.write_scene,
    "assets": made_models.write_assets,
}  # fmt: skip
"""Commands or functions that make what the names begin; all other input is made by `_make_files`."""


def _call(main: Main, arguments: list[str], home: Path) -> None:
    """Run a command of ``iap`` without what it says, from here on with what it has compiled unless it goes in a fork.

    Raises:
        IapError: it has failed.
    """
    if arguments[0] in IN_A_FORK:
        ending = run_command(main, arguments, home)
        if ending.code:
            raise IapError(f"iap {' '.join(arguments)}: {ending.err[-300:]}")
        return
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        code = main(arguments)
    if code:
        raise IapError(f"iap {' '.join(arguments)}: {output.getvalue()[-300:]}")
