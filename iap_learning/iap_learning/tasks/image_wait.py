# SPDX-License-Identifier: BSD-3-Clause
"""Answers between messages that wait, where a policy acts on images, for one of the same period."""

from abc import ABC, abstractmethod
from typing import Generic, Protocol, TypeVar

from iap_description.sensors.readings import Reading
from iap_io.ros.synchronizer import Instant
from iap_sensors.mounted.sensor_suite import CameraSink

Answer = TypeVar("Answer")


class ImagePilot(Protocol):
    """A pilot as far as it looks at images."""

    @property
    def eye(self) -> CameraSink | None:
        """Receiver of its images; None where it sees none."""

    def image_due(self, stamp: int, k: int) -> float | None:
        """Time [ns] from which on an image is new enough for instant k of a stamp [ns]; None: it needs none."""


class ImageWait(ABC, Generic[Answer]):
    """An instant that waits for its image.

    Attributes:
        stamp: of the newest answer [ns]; -1 before the first.
    """

    stamp: int

    @abstractmethod
    def _pilot(self) -> ImagePilot:
        """Pilot of the present flight."""

    @abstractmethod
    def _begin(self) -> None:
        """Begin a flight."""

    @abstractmethod
    def _try(self, instant: Instant) -> Answer | None:
        """Answer an instant, unless it waits for an image."""

    def _begin_images(self) -> None:
        """Begin a flight of which no image has come."""
        self._waiting: Instant | None = None
        self._seen = -1  # stamp of the newest image [ns]

    @property
    def _newest(self) -> int:
        """Stamp of the newest instant, answered or not [ns]."""
        return self.stamp if self._waiting is None else self._waiting.stamp

    def _waits(self, instant: Instant, k: int) -> bool:
        """True if instant k has to wait for its image, and does from now on."""
        due = self._pilot().image_due(instant.stamp, k)
        waits = due is not None and not due <= self._seen <= instant.stamp
        self._waiting = instant if waits else None
        return waits

    def take_reading(self, reading: Reading) -> Answer | None:
        """Take a reading of the camera; returns the answer that waited for it."""
        if reading.stamp < self._seen:  # simulation time began anew
            self._begin()
        eye = self._pilot().eye
        assert eye is not None  # noqa: S101 - nobody else listens to readings
        eye.receive(reading)
        self._seen = reading.stamp
        return None if self._waiting is None else self._try(self._waiting)
