# SPDX-License-Identifier: BSD-3-Clause
"""The films of README and docs."""

from pathlib import Path

import pytest
from PIL import Image

from iap_bringup.films.documented import FILMS, FOLDER, MAX_BYTES, SUFFIX
from iap_bringup.films.film import film_times

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("name", FILMS)
def test_a_documented_film_is_small_shown_somewhere_and_as_long_as_its_table_says(name):
    path, settings = ROOT / FOLDER / f"{name}{SUFFIX}", FILMS[name]
    assert path.stat().st_size < MAX_BYTES
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    assert any(path.name in page.read_text(encoding="utf-8") for page in pages)
    with Image.open(path) as film:
        assert film.size == settings.size
        if settings.end is not None:
            span = (settings.begin or 0.0, settings.end)
            assert film.n_frames == len(film_times(settings, span, 100.0))
