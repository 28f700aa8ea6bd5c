# SPDX-License-Identifier: BSD-3-Clause
"""Convex pieces are computed once for the same triangles, kept on the disk, and made anew if a file is cut short."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from asset_folders import assets_of, ell

from iap_description.assets import decomposition
from iap_description.errors import BadInput
from iap_description.geometry.solids import moments, triangles
from iap_description.world.scene_objects import object_parts

HALVES = (((0.0, 0.0), (1.0, 0.5)), ((0.0, 0.5), (0.5, 1.0)))  # of the L, in plan


def halves():
    """The two boxes that the L is made of, as coacd would return them."""
    pieces = []
    for (x0, y0), (x1, y1) in HALVES:
        corners = [[x, y, z] for x in (x0, x1) for y in (y0, y1) for z in (0.0, 1.0)]
        pieces.append((np.array(corners), np.zeros((0, 3), int)))
    return pieces


@pytest.fixture
def calls(tmp_path, monkeypatch):
    """A folder for the cache, a stand-in for coacd, and what it was called with."""
    made = []

    def run(mesh, **parameters):
        made.append(parameters)
        return halves()

    coacd = SimpleNamespace(Mesh=lambda *mesh: mesh, run_coacd=run, set_log_level=lambda _: None)
    monkeypatch.setitem(sys.modules, "coacd", coacd)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return made


@pytest.fixture
def folder(tmp_path):
    home = tmp_path / "things"
    home.mkdir()
    ell().export(home / "ell.stl")
    return home


def test_pieces_are_kept_whole_and_taken_again_without_coacd(calls, tmp_path, monkeypatch):
    mesh = np.array(ell().vertices), np.array(ell().faces)
    first = decomposition.convex_pieces(*mesh)
    (kept,) = (tmp_path / "cache/iap/decomposed").iterdir()
    assert kept.suffix == ".npz" and len(calls) == 1
    monkeypatch.setitem(sys.modules, "coacd", None)
    for one, again in zip(first, decomposition.convex_pieces(*mesh), strict=True):
        np.testing.assert_array_equal(one, again)
    with pytest.raises(BadInput, match="need coacd, which is not installed"):
        decomposition.convex_pieces(2.0 * mesh[0], mesh[1])


def test_a_file_that_was_cut_short_is_made_anew(calls, tmp_path):
    mesh = np.array(ell().vertices), np.array(ell().faces)
    decomposition.convex_pieces(*mesh)
    (kept,) = (tmp_path / "cache/iap/decomposed").iterdir()
    data = kept.read_bytes()
    kept.write_bytes(data[: len(data) // 2])
    assert len(decomposition.convex_pieces(*mesh)) == 2
    assert len(calls) == 2 and kept.read_bytes() == data


def test_other_parameters_are_other_pieces(calls, monkeypatch):
    mesh = np.array(ell().vertices), np.array(ell().faces)
    decomposition.convex_pieces(*mesh)
    monkeypatch.setitem(decomposition.PARAMETERS, "threshold", 0.2)
    decomposition.convex_pieces(*mesh)
    assert [each["threshold"] for each in calls] == [0.05, 0.2]


def test_an_obstacle_is_seen_as_it_is_and_touched_by_its_pieces(calls, folder):
    field = assets_of(folder)
    seen, touched = field.visual(), field.pieces()
    assert [len(each) for each in (seen, touched, calls)] == [1, 2, 1]
    volumes = [sum(moments(*triangles(each))[0] for each in some) for some in (seen, touched)]
    np.testing.assert_allclose(volumes, [0.75, 0.75], rtol=1e-6)
    (part,) = object_parts(field)
    assert len(part.faces) == len(ell().faces) == len(field.corners()[0])


def test_contact_by_hulls_needs_no_pieces(calls, folder):
    (hull,) = assets_of(folder, contact="hulls").pieces()
    assert moments(*triangles(hull))[0] == pytest.approx(0.875)
    assert not calls


def test_without_coacd_the_file_and_the_remedy_are_named(calls, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "coacd", None)
    with pytest.raises(BadInput) as error:
        assets_of(folder).pieces()
    line = f"{folder}/ell.stl is not convex: key 'contact': decomposed meshes need coacd, which is not installed: "
    assert str(error.value).startswith(line) and "-m pip install" in str(error.value)
