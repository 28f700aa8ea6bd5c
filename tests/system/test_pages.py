# SPDX-License-Identifier: BSD-3-Clause
"""The pages of docs: links lead somewhere, tables can be read, and their examples run."""

import json
import re
from importlib.util import find_spec

import pytest
from fork_server import command_server
from pages import (
    DOCS,
    PAGES,
    ROOT,
    anchors,
    cells,
    files_of,
    links,
    name_of,
    output,
    prose,
    sentences,
    write_files,
)

from iap_bringup.cli.arguments.verbs import VERBS
from iap_bringup.experiments.page_tables import PageTables, filled, load_figures
from iap_bringup.experiments.readme_figures import DATA
from iap_simulation.scenario.shipped import SCENARIOS

GENERATED = DOCS / "generated"  # made by the build
TREE = re.compile(r"^```{toctree}\n(?::\w+:.*\n)*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
MOST_LINES = 120  # of a page of concepts
RESULTS = [p for p in sorted((ROOT / "docs" / "results").glob("*.md")) if p.stem != "index"]
LONGEST_CELL = 120  # characters of a cell of a table
LONGEST_LINE = 160  # characters of a line that is no row of a table
WORDS, MOST_WORDS = 20.0, 36  # of a sentence, in the mean of a page and at most
NODE = re.compile(r'^    "(\w+(?:_node|_teleop|_view)|sensor_player|recorder) = ', re.MULTILINE)
LAWS = ("contact", "control", "docking", "engines", "identified_arm", "localisation", "modules")
STARTING = sorted((DOCS / "getting_started").glob("*.md"))
WITH_FILES = [page for page in STARTING if files_of(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    for target, anchor in links(page):
        assert target.exists() or GENERATED in target.parents, target
        assert not anchor or anchor in anchors(target), f"{target}#{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_page_has_one_title(page):
    assert len(re.findall(r"^# ", prose(page), re.MULTILINE)) == 1


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_cells_of_tables_are_short(page):
    for cell in cells(page):
        assert len(cell) <= LONGEST_CELL, cell


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_lines_are_short(page):
    for line in prose(page).splitlines():
        assert len(line) <= LONGEST_LINE or line.lstrip().startswith("|"), line


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_sentences_are_short(page):
    lengths = [len(words) for words in sentences(page)]
    assert sum(lengths) <= WORDS * len(lengths)
    assert max(lengths, default=0) <= MOST_WORDS


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_tables_that_are_made_of_figures_have_these_figures(page):
    folder = ROOT / DATA
    text = page.read_text(encoding="utf-8")
    assert filled(text, PageTables.load(folder), load_figures(folder)) == text


@pytest.mark.parametrize("page", RESULTS, ids=name_of)
def test_tables_of_results_are_made_of_what_commands_print(page):
    lines = page.read_text(encoding="utf-8").splitlines()
    heads = [k for k, line in enumerate(lines) if line.startswith("|---")]
    assert all(lines[k - 2].startswith("<!-- table ") for k in heads)


def test_every_table_that_is_made_is_on_a_page():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert all(f"<!-- table {name}: " in text for name in PageTables.load(ROOT / DATA).templates)


@pytest.mark.parametrize("name", LAWS)
def test_a_page_about_a_law_begins_with_its_equation(name):
    text = (DOCS / "concepts" / f"{name}.md").read_text(encoding="utf-8")
    assert "$$" in text.partition("\n## ")[0]


def in_toctrees(page):
    """Pages below a page, and below these."""
    for tree in TREE.findall(page.read_text(encoding="utf-8")):
        for name in tree.split():
            below = (page.parent / f"{name}.md").resolve()
            if GENERATED in below.parents:
                yield below
            else:
                assert below.is_file(), below
                yield from (below, *in_toctrees(below))


def test_every_page_is_in_one_toctree():
    below = list(in_toctrees(DOCS / "index.md"))
    pages = {page for page in DOCS.rglob("*.md") if GENERATED not in page.parents}
    assert pages - {DOCS / "index.md"} == {page for page in below if GENERATED not in page.parents}
    assert len(set(below)) == len(below)


@pytest.mark.parametrize("page", sorted((DOCS / "concepts").glob("*.md")), ids=name_of)
def test_a_page_of_concepts_is_short(page):
    assert len(page.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


def documentation(*words):
    """Output and exit code of tools/documentation."""
    return command_server().python(ROOT, str(ROOT / "tools" / "documentation"), *words)


@pytest.mark.slow
def test_the_pages_made_of_the_code_have_every_command_scenario_and_key():
    code = "from site_pages import PAGES; print(*(page() for page in PAGES.values()))"
    made = output(ROOT / "tools" / "documentation", "-c", code)
    assert all(f"## iap {verb}\n" in made for verb in VERBS)
    assert all(f"./iap run {name}\n" in made for name in SCENARIOS.names())
    nodes = {
        name for path in ROOT.glob("iap_*/setup.py") for name in NODE.findall(path.read_text())
    }
    assert all(f"## {name}\n" in made for name in nodes)
    assert all(f"| `{key}` |" in made for key in ("wind.speed", "joints", "kP", "episodes"))


def test_the_gallery_has_a_picture_and_a_figure_of_every_scenario():
    folder = DOCS / "gallery"
    assert {path.stem for path in folder.glob("*.webp")} == set(SCENARIOS.names())
    assert set(json.loads((folder / "figures.json").read_text())) == set(SCENARIOS.names())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (("--gallery", "hvoer"), "hover"),
        (("--figures", "run wall_psuh"), "run wall_push"),
        (("--figures", "--printed", "out.json"), "--figures COMMAND"),
        (("--figures", "run wall_push", "--printed", "no_file"), "no line of JSON"),
        (("--figures", "run wall_push", "--recordings", "no_folder"), "no such folder"),
    ],
)
def test_what_cannot_be_measured_for_a_page_is_refused_in_one_line(words, remedy):
    done = documentation(*words)
    assert done.code == 2
    assert done.error.count("\n") == 1
    assert remedy in done.error


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path):
    done = documentation("--no-python", "--out", str(tmp_path))
    if find_spec("sphinx") is None:
        assert done.code == 2
        assert "requirements/lock/docs.txt" in done.error
        return
    assert done.code == 0, done.error
    assert (tmp_path / "concepts" / "conventions.html").is_file()


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_FILES, ids=name_of)
def test_examples_run(page, tmp_path):
    text = page.read_text(encoding="utf-8")
    write_files(text, tmp_path)
    for name in files_of(text):
        assert output(tmp_path, name)
