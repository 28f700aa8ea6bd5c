# SPDX-License-Identifier: BSD-3-Clause
"""tools/lock.py: which packages it locks, and for which Pythons."""

import runpy

import pytest
from checkouts import ROOT

LOCK = runpy.run_path(str(ROOT / "tools" / "lock.py"))


def package(*needs):
    return {"metadata": {"requires_dist": list(needs)}}


PACKAGES = {
    "plot": package("array>=1", 'draw; extra == "pictures"'),
    "array": package(),
    "draw": package("plot", 'old; python_version < "3.13"'),
    "old": package(),
}


@pytest.fixture
def layer(tmp_path, monkeypatch):
    """A layer that asks for pictures, and for an oracle without what that asks for."""
    (tmp_path / "core.txt").write_text("Plot[pictures]==1.0  # with pictures\n")
    (tmp_path / "oracles.txt").write_text("oracle==1.0\n")
    monkeypatch.setitem(LOCK["of_file"].__globals__, "REQUIREMENTS", tmp_path)
    return LOCK["Layer"](["core"], ["oracles"], [], ["3.12", "3.13"])


def test_what_is_needed_follows_extras_and_markers(layer):
    needed = LOCK["needed"]
    assert needed(layer, PACKAGES, "3.12") == {"plot", "array", "draw", "old", "oracle"}
    assert needed(layer, PACKAGES, "3.13") == {"plot", "array", "draw", "oracle"}


def test_a_line_has_each_hash_once_and_names_the_pythons_where_not_all_need_it():
    line, all_pythons = LOCK["line"], ["3.12", "3.13"]
    assert line("old", "1.0", {"3.12": "b", "3.13": "a"}, all_pythons) == (
        "old==1.0 --hash=sha256:a --hash=sha256:b"
    )
    assert line("old", "1.0", {"3.12": "a", "3.13": "a"}, all_pythons) == (
        "old==1.0 --hash=sha256:a"
    )
    assert line("old", "1.0", {"3.12": "a"}, all_pythons) == (
        'old==1.0 ; python_version == "3.12" --hash=sha256:a'
    )


def test_a_lock_that_is_read_has_neither_comments_nor_hashes(tmp_path):
    path = tmp_path / "core.txt"
    path.write_text('# comment\nold==1.0 ; python_version == "3.12" --hash=sha256:a\n')
    (only,) = LOCK["read"](path)
    assert (only.name, str(only.specifier)) == ("old", "==1.0")
