# SPDX-License-Identifier: BSD-3-Clause
"""This machine's part of a cluster: what is started, and that nothing of it stays behind."""

import sys
from types import SimpleNamespace

import pytest

from iap_bringup.cli import cluster as command

RAY = [sys.executable, "-P", "-m", "ray.scripts.scripts"]


class Part:
    """A part of a cluster that is told to end by Ctrl-C at its first wait."""

    def __init__(self, calls, ends):
        self._calls, self._ends = calls, ends

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def terminate(self):
        self._calls.append("terminate")

    def wait(self):
        self._calls.append("wait")
        if self._ends and self._calls.count("wait") == 1:
            raise KeyboardInterrupt
        return 3


@pytest.fixture
def started(monkeypatch):
    """Calls of a part that ends by itself or is ended, and command lines."""
    calls = []
    how = SimpleNamespace(calls=calls, ends=False)

    def run(line, **_):
        calls.append(line)

    def popen(line, *, start_new_session):
        calls.extend([line, start_new_session])
        return Part(calls, how.ends)

    monkeypatch.setattr(command, "imported_ray", lambda: calls.append("ray"))
    monkeypatch.setattr(command.subprocess, "run", run)
    monkeypatch.setattr(command.subprocess, "Popen", popen)
    return how


@pytest.mark.parametrize(
    ("head", "before", "part"),
    [
        (None, [[*RAY, "get-auth-token", "--generate"]], ["--head", "--port=6380"]),
        ("10.0.0.1:6380", [], ["--address=10.0.0.1:6380"]),
    ],
)
def test_a_head_makes_a_token_and_a_port_and_others_have_its_address(started, head, before, part):
    assert command.cluster(SimpleNamespace(head=head, port=6380)) == 3
    line = started.calls[-3]
    assert started.calls == ["ray", *before, line, True, "wait"]
    assert line[:6] == [*RAY, "start", "--block"] and set(part) <= set(line)


def test_an_interrupted_part_is_ended_and_waited_for(started):
    started.ends = True
    with pytest.raises(KeyboardInterrupt):
        command.cluster(SimpleNamespace(head="a:1", port=1))
    assert started.calls[-3:] == ["wait", "terminate", "wait"]
