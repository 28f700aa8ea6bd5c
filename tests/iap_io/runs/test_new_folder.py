# SPDX-License-Identifier: BSD-3-Clause
"""Folders that commands fill: one that is left opens, whatever ended the command."""

import os
import resource
import signal

import pytest

from iap_description.errors import BadInput, IapError
from iap_description.process import interrupts
from iap_io.runs.run_folder import CHECKPOINT, METRICS, new_folder, write_config


def filled(out, name, error):
    """A folder with a file, in which something ends the command."""
    with new_folder(out, "it") as folder:
        if name:
            (folder / name).write_text("{}", encoding="utf-8")
        raise error


@pytest.mark.parametrize(
    ("name", "error", "stays"),
    [
        ("config.yaml", BadInput("no"), False),
        (METRICS, BadInput("no"), False),
        (METRICS, IapError("the plots failed"), True),
        (CHECKPOINT, BadInput("a reward is not finite"), True),
        ("config.yaml", KeyboardInterrupt(), False),
        (None, KeyboardInterrupt(), False),
        (METRICS, KeyboardInterrupt(), True),
    ],
)
def test_a_folder_stays_where_it_is_of_use(tmp_path, name, error, stays):
    out = tmp_path / "out"
    with pytest.raises(type(error)) as ended:
        filled(out, name, error)
    assert out.exists() == stays
    if isinstance(error, KeyboardInterrupt):  # which names the folder only if it is there
        assert ended.value.args == ((f"what was flown is in {out}",) if stays else ())


def test_a_signal_in_the_moment_of_making_leaves_nothing(tmp_path, monkeypatch):
    out = tmp_path / "out"
    mkdir = os.mkdir

    def interrupted(*arguments, **options):
        mkdir(*arguments, **options)
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(os, "mkdir", interrupted)
    with (
        pytest.raises(interrupts.Terminated),
        interrupts.handled(interrupts.raise_interrupt),
        new_folder(out, "it"),
    ):
        pytest.fail("the signal came before")
    assert not out.exists()


def test_a_refused_folder_is_gone_where_no_more_files_can_be_opened(tmp_path):
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.dup(0)
    os.close(free)
    try:
        with pytest.raises(BadInput), new_folder(tmp_path / "o", "run") as folder:
            write_config(folder, {"seed": 1})
            resource.setrlimit(resource.RLIMIT_NOFILE, (free, limits[1]))
            raise BadInput("too many open files")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert not folder.exists()
