# SPDX-License-Identifier: BSD-3-Clause
"""The pages of docs: links lead somewhere, tables can be read, and their examples run."""

import pytest
from pages import DOCS, PAGES, anchors, cells, files_of, links, name_of, output, write_files

LONGEST_CELL = 120  # characters of a cell of a table
NEW = [page for page in PAGES if page.parent.name in ("getting_started", "results")]
STARTING = sorted((DOCS / "getting_started").glob("*.md"))
WITH_FILES = [page for page in STARTING if files_of(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    for target, anchor in links(page):
        assert target.exists(), target
        assert not anchor or anchor in anchors(target), f"{target}#{anchor}"


@pytest.mark.parametrize("page", NEW, ids=name_of)
def test_cells_of_tables_are_short(page):
    for cell in cells(page):
        assert len(cell) <= LONGEST_CELL, cell


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_FILES, ids=name_of)
def test_examples_run(page, tmp_path):
    text = page.read_text(encoding="utf-8")
    write_files(text, tmp_path)
    for name in files_of(text):
        assert output(tmp_path, name)
