# SPDX-License-Identifier: BSD-3-Clause
"""The front end of visual odometry: corners followed from image to image and from left to right.

Corners of the left image are followed by pyramidal Lucas-Kanade, there and back, and so is each of
them into the right image, where it must lie on its epipolar line and before the cameras. Where
tracks are few, new corners begin, first where an image has fewest.
"""

import numpy as np

from iap_description.arrays import Array, Booleans, Pixels
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.process.extras import cv2
from iap_estimation.frontend.calibration import CameraCalibration, StereoCalibration, homogeneous
from iap_estimation.frontend.corners import new_corners
from iap_estimation.frontend.matching import FlowTracker, Matcher, ReferencePatches, one_thread
from iap_estimation.frontend.spec import FrontendSpec
from iap_estimation.frontend.track_table import TrackTable, apart
from iap_estimation.virpo.messages import Tracks

CLIP, TILES = 3.0, (8, 8)  # of the equalisation of contrast
FEWEST = 8  # points that a fundamental matrix is found from
SURE = 0.99  # how sure the search is of having met a sample without outliers
OLD = 40  # images after which a drawn track has the last colour
SHIFT = 4  # binary places of the drawn coordinates
CROWDED = 0.5  # of the spacing, below which the younger of two tracks ends


class StereoTracker:
    """Follows what a stereo pair sees."""

    def __init__(self, calibration: StereoCalibration, spec: FrontendSpec) -> None:
        self._calibration, self._spec = calibration, spec
        self._follow, self._patches = FlowTracker(spec), ReferencePatches(spec)
        self._match = Matcher(calibration, spec) if calibration.right is not None else None
        self._clahe = cv2.createCLAHE(CLIP, TILES) if spec.clahe else None
        self._t, self._next_id = -np.inf, 0
        self._image: Pixels | None = None  # the last left one
        self._table = self._none()

    def reset(self) -> None:
        """Let go of all tracks and of the time, as after a gap; ids are not used again."""
        self._t, self._image, self._table = -np.inf, None, self._none()

    def track(
        self, t: float, left: Pixels, right: Pixels | None = None, turn: Array | None = None
    ) -> Tracks:
        """Tracks in a pair of images.

        Args:
            t: of the images [s], later than the last.
            left: (h, w) grey levels.
            right: the same, or None where it is missing.
            turn: (4,) rotation of the left camera since the last image in its own axes, xyzw: its attitude now,
                seen from its attitude then; see `StereoCalibration.camera_turn`. None where it is not known.

        Raises:
            BadInput: time that does not go on, images of another size or type, or swapped ones.
        """
        self._check(t, left, right)
        with one_thread():
            image = self._prepared(left)
            table = self._replenished(image, self._followed(image, turn))
            xy_right = np.full((len(table), 2), np.nan)
            if right is None or self._match is None:
                table = table.unmatched()
            else:
                table, xy_right = self._match(image, self._prepared(right), table)
        self._t, self._image, self._table = t, image, table
        has_right = np.isfinite(xy_right[:, 0])
        return Tracks(t, table.ids.copy(), np.hstack([table.xy, xy_right]), has_right)

    def draw(self) -> Pixels:
        """The last left image (h, w, 3), rgb, with its tracks coloured by age.

        Raises:
            BadInput: there was none yet.
        """
        if self._image is None:
            raise BadInput("no image to draw tracks into: none was tracked yet")
        return _draw_tracks(self._image, self._table)

    def _check(self, t: float, left: Pixels, right: Pixels | None) -> None:
        if not t > self._t:
            raise BadInput(f"images go back in time: {t:.6f} s after {self._t:.6f} s")
        _check_image(left, self._calibration.left, "left")
        if right is not None:
            _check_image(right, self._calibration.second, "right")

    def _prepared(self, image: Pixels) -> Pixels:
        """As it is looked at; a copy, since whoever gave it may write to it."""
        if self._clahe is None:
            return np.array(image, order="C")
        return np.asarray(self._clahe.apply(image), dtype=np.uint8)

    def _followed(self, image: Pixels, turn: Array | None) -> TrackTable:
        """The tracks that are seen again."""
        table, last = self._table, self._image
        if last is None or not len(table):
            return self._none()
        guess, matched = self._follow(last, image, table.points, self._guess(turn))
        table, guess = table.kept(matched), guess[matched]
        points, patches, matched = self._patches.hold(
            (last, image), table.patches, table.points, guess
        )
        xy = self._calibration.left.normalized(points)
        matched &= np.isfinite(xy[:, 0])
        matched &= self._as_one(table.xy, xy, matched)
        table = table.updated(points, xy, patches).kept(matched)
        return table.kept(apart(table.points, CROWDED * self._spec.spacing))

    def _as_one(self, before: Array, after: Array, which: Booleans) -> Booleans:
        """Mask of the normalised points (n, 2) that move as one."""
        if self._spec.outliers == "off":
            return which
        focal, limit = self._calibration.left.focal, self._spec.outlier_limit
        matched = which.copy()
        matched[which] = _move_as_one(before[which] * focal, after[which] * focal, limit)
        return matched

    def _guess(self, turn: Array | None) -> Array:
        """First guesses (n, 2) [px]: where the rotation takes points, or where they were."""
        if turn is None:
            return self._table.points
        ways = so3.rotate(so3.conjugate(turn), homogeneous(self._table.xy))
        guess = self._calibration.left.project(ways)
        return np.where(ways[:, 2:] > 0.0, guess, self._table.points)

    def _replenished(self, image: Pixels, table: TrackTable) -> TrackTable:
        """With new tracks where they are few."""
        count = self._spec.max_tracks - len(table)
        where = self._calibration.left.followed
        corners = new_corners(image, table.points, count, self._spec, where)
        fresh = self._fresh(image, corners)
        return table.and_then(fresh.kept(np.isfinite(fresh.xy[:, 0])))

    def _fresh(self, image: Pixels, corners: Array) -> TrackTable:
        """Tracks that begin at corners (n, 2) [px] of an image."""
        first, xy = self._next_id, self._calibration.left.normalized(corners)
        self._next_id += len(corners)
        return TrackTable.fresh(first, corners, xy, self._patches.cast(image, corners))

    def _none(self) -> TrackTable:
        return self._fresh(np.zeros((1, 1), dtype=np.uint8), np.zeros((0, 2)))


def _check_image(image: Pixels, camera: CameraCalibration, name: str) -> None:
    if not isinstance(image, np.ndarray) or image.dtype != np.uint8:
        kind = image.dtype if isinstance(image, np.ndarray) else type(image).__name__
        raise BadInput(f"the {name} image is of {kind}, not of uint8 grey levels")
    if image.shape != (camera.height, camera.width):
        raise BadInput(
            f"the {name} image has the shape {image.shape}, its camera"
            f" {(camera.height, camera.width)}"
        )


def _move_as_one(before: Array, after: Array, limit: float) -> Booleans:
    """Mask (n,) of the points that fit one motion of the camera in a world that stands still.

    The search (Barath et al., "MAGSAC++", 2020) refines its motions, so that a narrow limit does not cost
    good tracks, as it does where motions of the fewest points are taken as they are.

    Args:
        before: (n, 2) in the last image, without distortion [px].
        after: (n, 2) in this one.
        limit: distance from the epipolar line [px].
    """
    everything = np.ones(len(before), dtype=bool)
    if len(before) < FEWEST:
        return everything
    try:
        _, inliers = cv2.findFundamentalMat(before, after, cv2.USAC_MAGSAC, limit, SURE)
    except cv2.error:  # which OpenCV 5 raises where no sample gives a model: nothing moves as one
        return ~everything
    return everything if inliers is None else np.asarray(inliers)[:, 0] > 0


def _draw_tracks(image: Pixels, table: TrackTable) -> Pixels:
    """An image (h, w, 3), rgb: tracks from blue, new, to red, old; lines lead to where the right camera has them."""
    canvas = cv2.cvtColor(image, cv2.COLOR_GRAY2RGB)
    shares = np.minimum(table.ages / OLD, 1.0).tolist()
    for point, share, other in zip(table.points, shares, table.right, strict=True):
        colour = _colour(share)
        if np.isfinite(other).all():
            cv2.line(canvas, _place(point), _place(other), colour, 1, cv2.LINE_AA, SHIFT)
        cv2.circle(canvas, _place(point), 3 << SHIFT, colour, 1, cv2.LINE_AA, SHIFT)
    return np.asarray(canvas, dtype=np.uint8)


def _colour(share: float) -> tuple[int, int, int]:
    """From blue over green to red."""
    green = 1.0 - abs(2.0 * share - 1.0)
    return round(255 * share), round(255 * green), round(255 * (1.0 - share))


def _place(point: Array) -> tuple[int, int]:
    u, v = np.round(point * (1 << SHIFT)).astype(int).tolist()
    return u, v
