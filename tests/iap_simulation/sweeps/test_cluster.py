# SPDX-License-Identifier: BSD-3-Clause
"""A Ray cluster does each piece of work once, whatever becomes of its processes and machines; skipped without Ray."""

import os
import signal
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from farm_work import die, die_first, fail, node_of, square
from hang import HANG

from iap_description.errors import BadInput, IapError
from iap_description.process.interrupts import WORDS
from iap_simulation.scenario.resolving import Options
from iap_simulation.sweeps import cluster
from iap_simulation.sweeps.cluster import ClusterPool
from iap_simulation.sweeps.process_pool import MAX_RETRIES, ProcessPool
from iap_simulation.sweeps.study import Axis, Study
from iap_simulation.sweeps.sweep import sweep
from iap_simulation.sweeps.sweep_folder import TABLE, SweepFolder

IAP = ["env", "--block-signal=INT,TERM", sys.executable, "-P", "-m", "iap_bringup.cli.main"]
SUPPORT = Path(__file__).parents[2] / "support"
with_ray = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed"),
]


@pytest.fixture(autouse=True)
def _workers_find_their_work(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", f"{SUPPORT}:{os.environ.get('PYTHONPATH', '')}")


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.fixture
def two_nodes(monkeypatch):
    """Address of a cluster of two nodes on this machine, a core each."""
    address = f"127.0.0.1:{free_port()}"
    start = [sys.executable, "-P", "-m", "ray.scripts.scripts", "start", "--num-cpus=1"]
    start += ["--disable-usage-stats"]
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    token = [*start[:4], "get-auth-token", "--generate"]
    subprocess.run(token, check=True, capture_output=True, timeout=HANG)
    port = address.rpartition(":")[2]
    head = ["--head", f"--port={port}", "--include-dashboard=false", "--node-ip-address=127.0.0.1"]
    try:
        for own in (head, [f"--address={address}", "--node-ip-address=127.0.0.2"]):
            subprocess.run([*start, *own], check=True, capture_output=True, timeout=HANG)
        yield address
    finally:
        stop = [sys.executable, "-P", "-m", "ray.scripts.scripts", "stop", "--force"]
        subprocess.run(stop, check=False, capture_output=True, timeout=HANG)


class TestOnThisMachine:
    pytestmark = with_ray

    def test_every_piece_comes_back_once(self):
        done = list(ClusterPool("local").map(square, range(50)))
        assert sorted((each.work, each.result) for each in done) == [(x, x * x) for x in range(50)]

    def test_what_a_killed_process_was_at_is_begun_again(self, tmp_path):
        pool = ClusterPool("local")
        done = list(pool.map(die_first, [(str(tmp_path), x) for x in range(12)]))
        assert sorted(each.result for each in done) == [x * x for x in range(12)]
        assert pool.retried == 2

    def test_work_that_always_kills_its_process_is_given_up(self):
        with pytest.raises(IapError, match=f"died {MAX_RETRIES + 1} times"):
            list(ClusterPool("local").map(die, [1]))

    def test_an_error_of_the_work_is_its_own(self):
        with pytest.raises(ValueError, match="no 1"):
            list(ClusterPool("local").map(fail, [1]))

    def test_another_source_is_refused(self, monkeypatch):
        monkeypatch.setattr(cluster, "source_fingerprint", lambda: "elsewhere")
        with pytest.raises(BadInput, match="has another source: .*, not elsewhere"):
            list(ClusterPool("local").map(square, [1]))


class TestOnTwoNodes:
    pytestmark = with_ray

    def test_a_sweep_has_the_table_of_one_machine(self, two_nodes, tmp_path):
        axes = (Axis("wind.speed", (0.0, 2.0)),)
        study = Study("hover", Options(duration=0.5), axes, seeds=12)
        points, tables = study.points(), []
        for name, pool in (("here", ProcessPool(1)), ("there", ClusterPool(two_nodes))):
            folder = SweepFolder.open(tmp_path / name, study, points)
            sweep(study, points, folder, pool)
            tables.append((tmp_path / name / TABLE).read_bytes())
        assert tables[0] == tables[1]

    def test_both_nodes_work(self, two_nodes):
        found = {each.result for each in ClusterPool(two_nodes).map(node_of, range(40))}
        assert len(found) == 2


def is_open(port):
    with socket.socket() as found:
        return found.connect_ex(("127.0.0.1", port)) == 0


class TestItsPart:
    pytestmark = with_ray

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_ends_with_all_its_processes(self, number):
        port = free_port()
        command = [*IAP, "cluster", f"--port={port}"]
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        with subprocess.Popen(command, **options) as part:
            for line in part.stdout:
                if "Ray runtime started" in line:
                    break
            assert is_open(port)
            part.send_signal(number)
            rest, _ = part.communicate(timeout=HANG)
        assert rest.rstrip().endswith(f"iap: {WORDS[number]}")
        assert part.returncode == 128 + number
        assert not is_open(port)


@pytest.mark.skipif(find_spec("ray") is not None, reason="ray is installed")
def test_without_ray_the_line_that_installs_it_is_said():
    with pytest.raises(BadInput, match=r"needs ray, which is not installed: .*lock/cluster\.txt"):
        list(ClusterPool("local").map(square, [1]))


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed")
@pytest.mark.parametrize(
    "address", ["127.0.0.1:1", "nowhere.invalid:6379", "6379", "host:99999999"]
)
def test_where_no_cluster_answers_is_said(address):
    with pytest.raises(BadInput, match=f"--cluster {address}: no cluster answers there"):
        list(ClusterPool(address).map(square, [1]))


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed")
def test_a_machine_of_no_cluster_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(cluster, "CURRENT", tmp_path / "none")
    with pytest.raises(BadInput, match="this machine is a part of none"):
        list(ClusterPool("auto").map(square, [1]))
