# SPDX-License-Identifier: BSD-3-Clause
"""``view.html``: one small file whose recording puts bodies where the flight had them."""

import base64
import re

import msgspec
import numpy as np
import pytest
import zstandard

from iap_bringup.cli.main import main
from iap_bringup.viewing.page import RATE
from iap_description.states import P
from iap_io.runs.run_folder import load_run

MB = 1e6


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    """A short flight with its page."""
    folder = tmp_path_factory.mktemp("page") / "run"
    assert main(["run", "figure_eight", "--duration", "2", "--no-plot", "--out", str(folder)]) == 0
    return folder


def messages_of(page):
    """Times [s] and messages of the recording in a page, as viser's client reads them."""
    data = base64.b64decode(re.search(r'__VISER_EMBED_DATA__="([^"]+)"', page).group(1))
    size = int.from_bytes(data[:8], "little")
    inner = zstandard.ZstdDecompressor().decompress(data[8:], max_output_size=size)
    length = int.from_bytes(inner[:8], "little")
    return msgspec.msgpack.decode(inner[8 : 8 + length])["messages"]


def test_bodies_of_a_page_move_as_in_the_flight(run_folder):
    columns = load_run(run_folder).vehicles[0].columns
    messages = messages_of((run_folder / "view.html").read_text())
    moves = [
        (t, m["position"])
        for t, m in messages
        if m["type"] == "SetPositionMessage" and m["name"] == "/world/bodies/iap/base_link"
    ]
    assert len(moves) > 0.5 * 2 * RATE
    for t, position in moves:
        rows = columns.x[:, 0, P]
        k = int(np.searchsorted(columns.t, t + 1e-6)) - 1
        assert position == pytest.approx(rows[max(k, 0)], abs=1e-3)


def test_a_page_is_small_and_asks_nothing_of_a_network(run_folder):
    page = (run_folder / "view.html").read_text()
    assert len(page) < 2 * MB
    assert not re.search(r'(src|href)="https?://', page)
    assert "figure_eight" in page


def test_a_run_without_a_view_has_no_page(tmp_path):
    out = tmp_path / "run"
    arguments = ["run", "hover", "--duration", "0.1", "--no-plot", "--no-view", "--out", str(out)]
    assert main(arguments) == 0
    assert not (out / "view.html").exists()


def test_what_has_no_states_is_refused_in_a_line(tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    assert main(["view", str(tmp_path / "empty"), "--no-browser"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
