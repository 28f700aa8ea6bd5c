# SPDX-License-Identifier: BSD-3-Clause
"""A signal whose exception a library's callback swallowed: the work is done, and the exit code tells of the signal."""

import contextlib
import signal

import pytest

from iap_bringup.cli import main as cli


@pytest.mark.parametrize(
    ("number", "code", "words"),
    [
        (signal.SIGINT, 130, "iap: interrupted, and yet done\n"),
        (signal.SIGTERM, 143, "iap: terminated, and yet done\n"),
    ],
)
def test_a_swallowed_signal_is_told_by_its_name(number, code, words, monkeypatch, capsys):
    def work(_) -> int:
        with contextlib.suppress(KeyboardInterrupt):  # as a callback does that cannot pass it on
            signal.raise_signal(number)
        return 0

    monkeypatch.setattr(cli, "_run", work)
    assert cli.main(["list"]) == code
    assert capsys.readouterr().err == words
