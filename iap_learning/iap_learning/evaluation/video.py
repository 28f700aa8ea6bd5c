# SPDX-License-Identifier: BSD-3-Clause
"""Episodes as a video."""

from collections.abc import Sequence
from pathlib import Path

from iap_learning.environments.camera import HEIGHT, WIDTH, WorldCamera
from iap_learning.evaluation.flyers import EvaluatedAgent
from iap_learning.tasks.kinds.registry import make_episodes
from iap_learning.tasks.task import Task
from iap_simulation.runs.video_file import VideoFile

LARGEST_PICTURE_RATE = 30.0  # pictures a second


def write_video(path: Path, task: Task, flyer: EvaluatedAgent, seeds: Sequence[int]) -> int:
    """Fly episodes, one after the other, into a video in their own time; returns the number of its pictures.

    Args:
        path: of the file, in the format of its suffix.
        task: what is to be done.
        flyer: who flies.
        seeds: of the episodes.

    Raises:
        BadInput: the file cannot be written, or this machine cannot draw.
    """
    episodes = make_episodes(task, 1)
    every = max(1, round(1.0 / (LARGEST_PICTURE_RATE * episodes.dt)))
    camera = WorldCamera(episodes)
    with VideoFile(path, 1.0 / (every * episodes.dt), (WIDTH, HEIGHT)) as video:
        try:
            for seed in seeds:
                observation, is_over = episodes.reset(seeds=[seed]), False
                acting = flyer.acting(episodes)
                while not is_over:
                    if int(episodes.steps[0]) % every == 0:
                        video.write(camera.picture(0))
                    step = episodes.step(acting(observation))
                    observation, is_over = (
                        step.observation,
                        bool(step.terminated[0] | step.truncated[0]),
                    )
        finally:
            camera.close()
        return video.count
