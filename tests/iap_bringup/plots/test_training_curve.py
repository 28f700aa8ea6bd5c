# SPDX-License-Identifier: BSD-3-Clause
"""The figure of a training."""

import pytest

pytest.importorskip("jax")

from matplotlib import axes

from iap_bringup.plots.training import MEDIAN, draw_training, smooth


def test_a_curve_does_not_jump_where_few_episodes_are_over():
    rising = [float(i) for i in range(40)]
    broken = [-100.0 if i == 20 else value for i, value in enumerate(rising)]
    assert smooth(rising)[MEDIAN:-MEDIAN] == rising[MEDIAN:-MEDIAN]
    assert max(abs(a - b) for a, b in zip(smooth(broken), smooth(rising), strict=True)) <= 1.0


@pytest.mark.parametrize(
    ("stages", "at", "unit"),
    [
        (("dagger", "online"), 3e-6, "steps [million]"),
        (("dagger",), 3e-3, "updates [thousand]"),
        (("offline",), None, "updates [thousand]"),
    ],
)
def test_the_last_stage_that_flies_is_drawn_over_its_own_unit(
    stages, at, unit, tmp_path, monkeypatch
):
    drawn, labels = [], []
    monkeypatch.setattr(axes.Axes, "plot", lambda _, x, y, **__: drawn.append((x, y)))
    monkeypatch.setattr(axes.Axes, "set_xlabel", lambda _, text: labels.append(text))
    monkeypatch.setattr(axes.Axes, "legend", lambda _: None)
    rows = [
        {"stage": stage, "steps": 3, "success": 0.5, "return": float(k)}
        for k, stage in enumerate(stages)
    ]
    assert draw_training(tmp_path, rows).is_file()
    assert set(labels) == {unit}
    last = [] if at is None else [pytest.approx(at)]
    assert drawn[0] == (last, [float(len(stages) - 1)] if last else [])
