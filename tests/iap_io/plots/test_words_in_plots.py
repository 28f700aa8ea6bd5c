# SPDX-License-Identifier: BSD-3-Clause
"""Words of users in plots: letters that the font lacks, and dollars that begin no formula."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import pytest

from iap_io.plots.plot_style import write_plot

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@pytest.mark.parametrize("word", [r"$\nothing$", "a$b$c$", "$_$", "１２", "风", r"\alpha", "%"])
def test_any_word_may_stand_in_a_plot(word: str, tmp_path: Path) -> None:
    def draw(figure: "Figure") -> None:
        axes = figure.subplots()
        axes.plot([0.0, 1.0], label=word)
        axes.set_title(word)
        axes.legend()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        path = write_plot(tmp_path / "plot.png", draw)
    assert cv2.imread(str(path)) is not None


def test_formulas_are_drawn_as_such(tmp_path: Path) -> None:
    def picture(text: str) -> bytes:
        return write_plot(
            tmp_path / "plot.png", lambda figure: figure.text(0.5, 0.5, text) and None
        ).read_bytes()

    assert picture("$x_1$") != picture(r"\$x_1\$")
