# SPDX-License-Identifier: BSD-3-Clause
"""Tracks as serialised iap_msgs/FeatureTracks, and back; no ROS needed."""

import numpy as np

from iap_description.config.bounds import are_plausible
from iap_description.errors import BadInput
from iap_estimation.virpo.messages import Tracks
from iap_io.wire.cdr import decoded, message, serialised
from iap_io.wire.number_check import check_stamp
from iap_io.wire.stamps import SECOND, stamp_of_time

FEATURES = "iap_msgs/msg/FeatureTracks"
VIEW = 4  # numbers of a track: x, y in the left and x, y in the right camera


def tracks_bytes(tracks: Tracks, frame: str) -> bytes:
    """The message of tracks; `frame` is the left camera's."""
    sec, nanosec = divmod(stamp_of_time(tracks.t), SECOND)
    stamp = message("builtin_interfaces/msg/Time", sec=sec, nanosec=nanosec)
    header = message("std_msgs/msg/Header", stamp=stamp, frame_id=frame)
    content = message(
        FEATURES,
        header=header,
        ids=np.ascontiguousarray(tracks.ids, dtype=np.int64),
        views=np.ascontiguousarray(tracks.views, dtype=float).ravel(),
        has_right=np.ascontiguousarray(tracks.has_right, dtype=bool),
    )
    return serialised(content)


def tracks_of(data: bytes) -> Tracks:
    """The tracks in a message.

    Raises:
        BadInput: it is none, its lengths do not fit, or what should be seen cannot be meant.
    """
    content = decoded(data, FEATURES)
    stamp = content.header.stamp
    check_stamp(stamp.sec, stamp.nanosec)
    count = len(content.ids)
    if len(content.views) != VIEW * count or len(content.has_right) != count:
        sizes = f"{count} ids, {len(content.views)} numbers, {len(content.has_right)} flags"
        raise BadInput(f"sizes that do not fit: {sizes}")
    views = np.array(content.views, dtype=float).reshape(-1, VIEW)
    has_right = np.array(content.has_right, dtype=bool)
    if not (are_plausible(views[:, :2].ravel()) and are_plausible(views[has_right].ravel())):
        raise BadInput("views: not finite, or beyond all bounds")
    if len(np.unique(content.ids)) != count:
        raise BadInput("ids: one comes twice")
    views[~has_right, 2:] = np.nan
    return Tracks(stamp.sec + 1e-9 * stamp.nanosec, np.array(content.ids), views, has_right)
