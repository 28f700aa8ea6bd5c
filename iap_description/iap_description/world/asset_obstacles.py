# SPDX-License-Identifier: BSD-3-Clause
"""Fields of obstacles from the files of a folder: a seed draws a file, a pose and a size for each of them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import AfterValidator, model_validator

from iap_description.arrays import Array
from iap_description.assets.closed_bodies import (
    ClosedBody,
    Triangles,
    asset_files,
    closed_bodies,
    whole_assets,
)
from iap_description.assets.contact import hull_of
from iap_description.assets.decomposition import convex_pieces
from iap_description.assets.kinds import ASSET_KINDS
from iap_description.config.alternatives import alternatives
from iap_description.config.values import NonNegative, Positive, Real
from iap_description.errors import BadInput
from iap_description.geometry.mesh_files import mesh_path, whole_path
from iap_description.geometry.shapes import Shape
from iap_description.geometry.solids import hull, triangles
from iap_description.world.obstacles import MAX_PIECES, Hulls, Obstacles, between, turns

MAX_TRIANGLES = 5_000_000  # of a field
SPARE = 0.01  # size of a spare piece over that of the piece that it is within


@dataclass(frozen=True, eq=False)
class _Asset:
    """The bodies of a file."""

    path: Path
    bodies: tuple[ClosedBody, ...]

    @cached_property
    def points(self) -> Array:
        """(n, 3) corners of the hulls of all bodies."""
        return np.vstack([body.hull[0] for body in self.bodies])

    @cached_property
    def middle(self) -> Array:
        """(3,) the middle of the box around it, by which it is placed."""
        return 0.5 * (self.points.min(axis=0) + self.points.max(axis=0))


@dataclass(frozen=True, eq=False)
class _Place:
    """An asset where it stands: scaled and turned by `R` (3, 3) about its middle, which is at `p` (3,) [m]."""

    asset: _Asset
    R: Array
    p: Array

    def corners(self, vertices: Array) -> Array:
        """Points (n, 3) of the file in O [m]."""
        return np.asarray((vertices - self.asset.middle) @ self.R.T + self.p)


class Assets(Obstacles):
    """Meshes, glTF and URDF files of a folder, each of closed bodies.

    Bodies are seen as they are. Convex ones are touched so, too, all others by convex pieces of the same triangles.
    All worlds have the same number of pieces, whatever is drawn, as batches of worlds need: an obstacle of few pieces
    has tiny spare ones within its first.
    """

    type: Literal["assets"]
    folder: Annotated[str, AfterValidator(whole_path)]
    weights: dict[str, NonNegative] | None = None  # share of each file; None: all alike
    scale: tuple[Positive, Positive] = (1.0, 1.0)  # least and largest, metres per unit of a file
    heights: tuple[Real, Real] | None = None  # of their middles [m]; None: they stand on the plane
    tilt_deg: NonNegative = 0.0  # largest, off the vertical
    contact: Literal["decomposed", "hulls"] = "decomposed"  # of bodies that are not convex

    @model_validator(mode="after")
    def _has_closed_files(self) -> Self:
        assets = [asset for asset, _ in self._assets()]
        most = max(sum(len(body.faces) for body in asset.bodies) for asset in assets)
        if self.count * most > MAX_TRIANGLES:
            raise ValueError(
                f"key 'count': {self.count} obstacles of up to {most} triangles are more than {MAX_TRIANGLES}"
            )
        return self

    def solids(self) -> list[tuple[Array, bool]]:
        """The triangles of the files."""
        return [
            (place.corners(body.vertices)[body.faces], body.is_convex)
            for place in self._places()
            for body in place.asset.bodies
        ]

    def visual(self) -> tuple[Shape, ...]:
        """A shape for each body."""
        return tuple(
            hull(place.corners(body.vertices), body.faces, self.color)
            for place in self._places()
            for body in place.asset.bodies
        )

    def hulls(self) -> list[Hulls]:
        """Convex pieces, of each obstacle as many as of the file that has most.

        Raises:
            BadInput: coacd is needed and not installed, or there are too many pieces.
        """
        most = max(len(self._pieces(asset)) for asset, _ in self._assets())
        if self.count * most > MAX_PIECES:
            raise BadInput(
                f"key 'count': {self.count} obstacles of up to {most} convex pieces are more than {MAX_PIECES}"
            )
        out = []
        for place in self._places():
            pieces = self._pieces(place.asset)
            spare = [_within(pieces[0])] * (most - len(pieces))
            out += [(place.corners(points)[None], faces) for points, faces in (*pieces, *spare)]
        return out

    def _pieces(self, asset: _Asset) -> tuple[Triangles, ...]:
        """The convex pieces of an asset in the frame of its file."""
        try:
            return tuple(piece for body in asset.bodies for piece in _touched(body, self.contact))
        except (BadInput, ValueError) as error:
            raise BadInput(f"{asset.path} is not convex: {error}") from error

    def _places(self) -> list[_Place]:
        """The obstacles of this seed."""
        rng, n = self.dice, self.count
        assets, shares = zip(*self._assets(), strict=True)
        steps = np.cumsum(shares) / sum(shares)
        drawn = np.searchsorted(steps[:-1], rng.uniform(0.0, 1.0, n), side="right")
        R = between(rng, self.scale, n)[:, None, None] * turns(rng, n, self.tilt_deg, self.yaw_deg)
        radii, lows = np.zeros(n), np.zeros(n)
        for i, k in enumerate(drawn):
            corners = (assets[k].points - assets[k].middle) @ R[i].T
            radii[i], lows[i] = np.hypot(corners[:, 0], corners[:, 1]).max(), corners[:, 2].min()
        xy = self.positions(rng, radii)
        z = -lows if self.heights is None else between(rng, self.heights, n)
        p = np.column_stack([xy, z])
        return [_Place(assets[k], R[i], p[i]) for i, k in enumerate(drawn)]

    def _assets(self) -> list[tuple[_Asset, float]]:
        """The files that may be drawn, with their shares.

        Raises:
            ValueError: there are none, one that is named is not there, or one cannot be used.
        """
        folder, made = Path(mesh_path(self.folder)), []
        for name, share in self._shares(folder).items():
            try:
                bodies = closed_bodies(folder / name)
            except (BadInput, ValueError) as error:
                raise ValueError(
                    f"key 'folder': {error}: mend it, or leave it out by 'weights'"
                ) from error
            made.append((_asset(folder / name, bodies), share))
        return made

    def _shares(self, folder: Path) -> dict[str, float]:
        """Share of each file that may be drawn, by name."""
        try:
            names = list(asset_files(folder) if self.weights else whole_assets(folder))
        except (BadInput, ValueError) as error:
            raise ValueError(f"key 'folder': {error}") from error
        if not names:
            kinds = ", ".join(ASSET_KINDS)
            raise ValueError(f"key 'folder': no file in {folder} is an asset: {kinds}")
        if self.weights is None:
            return dict.fromkeys(names, 1.0)
        unknown = sorted(set(self.weights) - set(names))
        if unknown:
            raise ValueError(
                f"key 'weights': {folder} has no asset '{unknown[0]}': {alternatives(unknown[0], names)}"
            )
        shares = {name: self.weights[name] for name in names if self.weights.get(name)}
        if not shares:
            raise ValueError("key 'weights': no file has a share above 0: give one")
        return shares


@lru_cache(maxsize=256)
def _asset(path: Path, bodies: tuple[ClosedBody, ...]) -> _Asset:
    """The asset of bodies, which resets of worlds have alike."""
    return _Asset(path, bodies)


@lru_cache(maxsize=1024)
def _touched(body: ClosedBody, contact: str) -> tuple[Triangles, ...]:
    """Convex pieces of a body: itself, if it is convex."""
    if body.is_convex:
        return ((body.vertices, body.faces),)
    return CONTACTS[contact](body)


def _decomposed(body: ClosedBody) -> tuple[Triangles, ...]:
    return tuple(triangles(hull_of(points)) for points in convex_pieces(body.vertices, body.faces))


CONTACTS: dict[str, Callable[[ClosedBody], tuple[Triangles, ...]]] = {
    "decomposed": _decomposed,
    "hulls": lambda body: (body.hull,),
}


def _within(piece: Triangles) -> Triangles:
    """A small copy of a convex piece around a point within it, which nothing touches."""
    points, faces = piece
    middle = points.mean(axis=0)
    return middle + SPARE * (points - middle), faces
