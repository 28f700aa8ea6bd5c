# SPDX-License-Identifier: BSD-3-Clause
"""The process that traces paths: ``python -m iap_sensors.path_tracing.worker VARIANT``, commands in and light out."""

import os
import sys
from typing import IO

import numpy as np

from iap_sensors.path_tracing.messages import (
    Answer,
    LampLevels,
    LightRequest,
    Poses,
    receive,
    send,
)
from iap_sensors.path_tracing.traced_scene import Singles, TracedScene


def main() -> None:
    """Answer until the other side ends."""
    commands = sys.stdin.buffer
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints goes to the errors
    serve(sys.argv[1], commands, out)


def serve(variant: str, commands: IO[bytes], out: IO[bytes]) -> None:
    """Load and render what comes in."""
    import mitsuba as mi

    mi.set_variant(variant)
    mi.set_log_level(mi.LogLevel.Error)
    from iap_sensors.path_tracing.mitsuba_scene import MitsubaScene

    scene: MitsubaScene | None = None
    while True:
        try:
            command = receive(commands)
        except EOFError:
            return
        try:
            if isinstance(command, TracedScene):
                scene = MitsubaScene(command, is_vectorised=variant != "scalar_rgb")
                send(out, Answer())
            elif isinstance(command, Poses) and scene is not None:
                scene.place(command)
                send(out, Answer())
            elif isinstance(command, LampLevels) and scene is not None:
                scene.dim(command)
                send(out, Answer())
            elif isinstance(command, LightRequest) and scene is not None:
                send(out, Answer(_light(scene.light(command), command)))
        except Exception as error:  # the other side says it
            send(out, Answer(fault=f"{type(error).__name__}: {error}"))


def _light(layers: tuple[Singles, Singles, Singles], asked: LightRequest) -> Singles:
    light, albedo, normal = layers
    if not asked.denoised:
        return light
    from mitsuba_oidn import denoise

    out = denoise(
        np.ascontiguousarray(light / asked.white), albedo=np.ascontiguousarray(albedo),
        normal=np.ascontiguousarray(normal), hdr=True, clean_aux=True,
    )  # fmt: skip
    return np.asarray(out, np.float32) * np.float32(asked.white)


if __name__ == "__main__":
    main()
