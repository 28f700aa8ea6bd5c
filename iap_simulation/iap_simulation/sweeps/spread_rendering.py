# SPDX-License-Identifier: BSD-3-Clause
"""Frames of a recorded motion, rendered by several processes a few at a time; what is done is kept in a folder."""

import hashlib
import io
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from iap_description.config.array_files import DAMAGE
from iap_description.errors import BadInput
from iap_description.geometry.tessellation import MeshPart
from iap_description.scenes.scene import Scene
from iap_io.runs.run_folder import CONFIG, load_run, write_file
from iap_io.runs.topics import BAG
from iap_sensors.cameras.make import make_renderer
from iap_sensors.cameras.renderer import Frame, Shot
from iap_sensors.mounted.cameras import MountedCameras, mounted_cameras_of
from iap_simulation.runs.rerender import RecordedStates, check_rerender
from iap_simulation.scenario.resolving import scenario_of
from iap_simulation.scenario.rig_spec import rig_spec
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.sweeps.process_pool import WorkPool
from iap_simulation.sweeps.study import fingerprint

INSTANTS_AT_ONCE = 4  # at which one process renders what is due
FIELDS = tuple(Frame.__dataclass_fields__)


class FrameChunk(NamedTuple):
    """Instants of a recorded run whose images are rendered together.

    Attributes:
        name: of the chunk, by all that its frames depend on.
        run: folder of the run.
        text: its configuration with the cameras and the scene that count now, as JSON.
        instants: numbers of the instants.
    """

    name: str
    run: Path
    text: str
    instants: tuple[int, ...]


class FrameFolder:
    """A folder with a file of frames for each chunk that is done, there as a whole or not at all."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def has(self, chunk: FrameChunk) -> bool:
        """True if a chunk is done."""
        return self._file(chunk).exists()

    def add(self, chunk: FrameChunk, frames: Sequence[Frame]) -> None:
        """Keep a chunk's frames."""
        arrays: dict[str, Any] = {"count": len(frames)}
        for number, frame in enumerate(frames):
            values = ((name, getattr(frame, name)) for name in FIELDS)
            arrays |= {f"{number}_{name}": each for name, each in values if each is not None}
        data = io.BytesIO()
        np.savez(data, **arrays)
        self.path.mkdir(parents=True, exist_ok=True)
        write_file(self._file(chunk), data.getvalue())

    def frames(self, chunk: FrameChunk) -> Iterator[Frame]:
        """A chunk's frames.

        Raises:
            BadInput: the file is damaged.
        """
        path = self._file(chunk)
        try:
            with np.load(path, allow_pickle=False) as kept:
                for number in range(int(kept["count"])):
                    names = [name for name in FIELDS if f"{number}_{name}" in kept]
                    values: dict[str, Any] = {name: kept[f"{number}_{name}"] for name in names}
                    if "luminance" in values:
                        values["luminance"] = float(values["luminance"])
                    yield Frame(**values)
        except DAMAGE as error:
            raise BadInput(f"{path}: damaged ({error}); remove it to render it again") from error

    def _file(self, chunk: FrameChunk) -> Path:
        return self.path / f"{chunk.name}.npz"


class KeptFrames:
    """A renderer that gives frames which are there already, in the order of a run.

    Args:
        folder: that has them.
        chunks: of the run, in order.
    """

    def __init__(self, folder: FrameFolder, chunks: Sequence[FrameChunk]) -> None:
        self._frames = (frame for chunk in chunks for frame in folder.frames(chunk))

    def load(self, scene: Scene, bodies: Sequence[Sequence[MeshPart]]) -> None:
        """Take what is to be drawn, which is drawn already."""

    def render(self, shots: Sequence[Shot], poses: np.ndarray) -> list[Frame]:  # noqa: ARG002
        """The next frames."""
        return [next(self._frames) for _ in shots]

    def close(self) -> None:
        """Give back what the renderer holds."""


class ChunkRenderer(NamedTuple):
    """Renders chunks in a process of its own and keeps their frames.

    Attributes:
        folder: of the frames.
    """

    folder: Path

    def render(self, chunk: FrameChunk) -> int:
        """Number of frames that are new in the folder."""
        states, cameras = _stage(chunk.run, chunk.text)
        frames: list[Frame] = []
        for i in chunk.instants:
            k, t = states.time(i)
            frames += cameras.frames(cameras.due(k), t, states.at(i))
        FrameFolder(self.folder).add(chunk, frames)
        return len(frames)


@lru_cache(maxsize=1)
def _stage(run: Path, text: str) -> tuple[RecordedStates, MountedCameras]:
    """States and cameras of a run, made once in a process; the renderer ends with it."""
    scenario = scenario_of(json.loads(text), str(run / CONFIG))
    data, rig = load_run(run), rig_spec(scenario)
    cameras = mounted_cameras_of(rig)
    mounted = MountedCameras(rig, cameras, make_renderer(scenario.renderer))
    return RecordedStates.of(data, scenario), mounted


def chunks_of_run(run: Path, scenario: Scenario, tree: dict[str, Any]) -> list[FrameChunk]:
    """All chunks of a run, in order.

    Raises:
        BadInput: the run cannot be rendered again, or images depend on those before.
    """
    data, rig = load_run(run), rig_spec(scenario)
    cameras = mounted_cameras_of(rig)
    check_rerender(run, data, scenario, len(cameras))
    for each in cameras:
        effects = each.camera.spec.effects
        if effects is not None and effects.auto_exposure is not None:
            raise BadInput(
                f"--workers: images of camera '{each.mount.source.topic}' are exposed by those before"
                " (key 'effects.auto_exposure'); render them without --workers"
            )
    states = RecordedStates.of(data, scenario)
    due = [
        i
        for i in range(states.count)
        if any(each.sampling.is_due(states.time(i)[0]) for each in cameras)
    ]
    text, recording = json.dumps(tree, sort_keys=True), _digest(run)
    return [
        FrameChunk(
            fingerprint({"tree": tree, "run": recording}, instants), run.resolve(), text, instants
        )
        for instants in (
            tuple(due[first : first + INSTANTS_AT_ONCE])
            for first in range(0, len(due), INSTANTS_AT_ONCE)
        )
    ]


def spread(
    chunks: Sequence[FrameChunk],
    folder: FrameFolder,
    pool: WorkPool,
    progress: Callable[[str], None],
) -> int:
    """Render the chunks that a folder does not have yet.

    Args:
        chunks: of a run.
        folder: that keeps them.
        pool: who does the work.
        progress: is told how many instants of those that were missing are done.

    Returns:
        Number of images that were rendered.
    """
    waiting = [chunk for chunk in chunks if not folder.has(chunk)]
    total, done, images = sum(len(chunk.instants) for chunk in waiting), 0, 0
    with closing(pool.map(ChunkRenderer(folder.path.resolve()).render, waiting)) as finished:
        for chunk, count in finished:
            done, images = done + len(chunk.instants), images + count
            progress(f"{done} of {total} instants")
    return images


def _digest(run: Path) -> str:
    """Digest of a recording's files by their names and sizes, and of the time of each."""
    digest = hashlib.sha256(str(run.resolve()).encode())
    for path in sorted((run / BAG).glob("*")):
        state = path.stat()
        digest.update(f"{path.name} {state.st_size} {state.st_mtime_ns}".encode())
    return digest.hexdigest()
