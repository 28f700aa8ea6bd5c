# SPDX-License-Identifier: BSD-3-Clause
"""Files of moving pictures that browsers play: coded videos, and animated images."""

import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from iap_description.errors import BadInput
from iap_description.process.extras import cv2
from iap_description.process.native_output import native_output_discarded

Picture = NDArray[np.uint8]
Size = tuple[int, int]  # width and height [pixels]

LARGEST_ANIMATION = 1_000_000_000  # of an animation's pictures, which are kept in memory [bytes]
WEBP: dict[str, Any] = {"quality": 55, "method": 4}  # 4 of 6: slower methods save 2 % more
GIF: dict[str, Any] = {"optimize": False, "disposal": 1}


class PictureSink(Protocol):
    """Takes pictures one after the other."""

    def write(self, picture: Picture) -> None:
        """Add a picture (height, width, 3), RGB."""

    def close(self) -> None:
        """Complete the file, in place of one that was there."""

    def abandon(self) -> None:
        """Leave no file, and one that was there as it was."""


def _part_of(path: Path) -> Path:
    """The file that is written until it is complete; its suffix names its format to encoders."""
    return path.with_name(f".{path.stem}.part{path.suffix}")


class CodedVideo:
    """A video of one of some codecs, the first that OpenCV can encode on this machine.

    Raises:
        BadInput: the file cannot be written.
    """

    def __init__(self, path: Path, rate: float, size: Size, codecs: tuple[str, ...]) -> None:
        self._path, self._part = path, _part_of(path)
        for codec in codecs:
            with native_output_discarded():  # FFmpeg complains of codecs that it lacks
                code = cv2.VideoWriter.fourcc(*codec)
                self._writer = cv2.VideoWriter(str(self._part), cv2.CAP_FFMPEG, code, rate, size)
            if self._writer.isOpened():
                return
        raise BadInput(f"--video {path}: cannot be written")

    def write(self, picture: Picture) -> None:
        """Add a picture."""
        self._writer.write(np.ascontiguousarray(picture[..., ::-1]))

    def close(self) -> None:
        """Complete the file, see `PictureSink`."""
        self._writer.release()
        os.replace(self._part, self._path)

    def abandon(self) -> None:
        """Leave no file."""
        self._writer.release()
        self._part.unlink()


class Animation:
    """An animated image, which is encoded as a whole.

    Raises:
        BadInput: the file cannot be written.
    """

    def __init__(self, path: Path, rate: float, size: Size, options: dict[str, Any]) -> None:
        if not path.parent.is_dir():
            raise BadInput(f"--video {path}: cannot be written")
        self._path, self._options = path, options
        self._milliseconds = 1000.0 / rate
        self._most = LARGEST_ANIMATION // (3 * size[0] * size[1])
        self._pictures: list[Image.Image] = []

    def write(self, picture: Picture) -> None:
        """Keep a picture.

        Raises:
            BadInput: there are more than fit into memory.
        """
        if len(self._pictures) >= self._most:
            raise BadInput(
                f"--video {self._path}: an animation holds at most {self._most} pictures of this size;"
                " a .webm or .mp4 any number"
            )
        self._pictures.append(Image.fromarray(picture))

    def close(self) -> None:
        """Encode all pictures; a file without any is not made."""
        if not self._pictures:
            return
        ends = np.rint(self._milliseconds * np.arange(len(self._pictures) + 1)).astype(int)
        first, *others = self._pictures
        part = _part_of(self._path)
        try:
            first.save(
                part,
                save_all=True,
                append_images=others,
                duration=np.diff(ends).tolist(),
                loop=0,
                **self._options,
            )
            os.replace(part, self._path)
        finally:
            part.unlink(missing_ok=True)

    def abandon(self) -> None:
        """Leave no file: none is written before all pictures are there."""


def _coded(*codecs: str) -> Callable[[Path, float, Size], PictureSink]:
    return lambda path, rate, size: CodedVideo(path, rate, size, codecs)


def _animated(options: dict[str, Any]) -> Callable[[Path, float, Size], PictureSink]:
    return lambda path, rate, size: Animation(path, rate, size, options)


# OpenCV's wheels encode VP8 and VP9; H.264 where the system's OpenCV has an encoder of it.
FORMATS: dict[str, Callable[[Path, float, Size], PictureSink]] = {
    ".webm": _coded("VP80"),
    ".mp4": _coded("avc1", "vp09"),
    ".webp": _animated(WEBP),
    ".gif": _animated(GIF),
}


class VideoFile:
    """Moving pictures that are being written, in the format of the file's suffix: whole, or after an error not at all.

    Args:
        path: of the file.
        rate: pictures a second.
        size: of them, both even.

    Attributes:
        count: pictures so far.

    Raises:
        BadInput: another suffix, or the file cannot be written.
    """

    def __init__(self, path: Path, rate: float, size: Size) -> None:
        make = FORMATS.get(path.suffix.lower())
        if make is None:
            raise BadInput(f"--video {path}: a video's file ends in {', '.join(FORMATS)}")
        self._sink, self.count = make(path, rate, size), 0

    def write(self, picture: Picture) -> None:
        """Add a picture (height, width, 3), RGB."""
        self._sink.write(picture)
        self.count += 1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self._sink.close()
        else:
            self._sink.abandon()
