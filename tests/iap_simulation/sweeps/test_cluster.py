# SPDX-License-Identifier: BSD-3-Clause
"""Studies, processes of a sweep, and clusters."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
from farm_work import die, die_first, fail, node_of, square, stay
from hang import HANG

from iap_description.errors import BadInput, IapError
from iap_description.process.interrupts import WORDS
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.sweeps import cluster
from iap_simulation.sweeps.cluster import ClusterPool
from iap_simulation.sweeps.process_pool import MAX_RETRIES, ProcessPool
from iap_simulation.sweeps.statistics import wilson_interval
from iap_simulation.sweeps.study import Axis, Study, fingerprint
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


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("wind.speed=0:8:5", (0.0, 2.0, 4.0, 6.0, 8.0)),
        ("a=-1e-3:1e-3:3", (-1e-3, 0.0, 1e-3)),
        ("a=3:3:1", (3.0,)),
        ("control.gains=default,paper", ("default", "paper")),
        ("kP=[8, 8, 8],[9, 9, 9]", ([8, 8, 8], [9, 9, 9])),
        ("a=1, 2.5,true", (1, 2.5, True)),
    ],
)
def test_values_of_a_key(text, values):
    axis = Axis.of(text)
    assert axis.key == text.partition("=")[0]
    assert axis.values == pytest.approx(values) if ":" in text else axis.values == values


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("wind.speed", "KEY=FROM:TO:COUNT or KEY=VALUE"),
        ("=1,2", "KEY=FROM"),
        ("a=", "KEY=FROM"),
        ("seed=1,2", "--seeds"),
        ("a=1,1", "twice"),
        ("a=0:8:1", "at least two values"),
        ("a=0:8:0", "at least two values"),
        ("a=0:8:9999999", "more than"),
        ("a=0:1e400:3", "at most 1e"),
        ("a=-1e308:1e308:3", "at most 1e"),
        ("a=1,,2", "between the commas|a="),
        ("a=1,", "between the commas"),
        ("a={", "a="),
    ],
)
def test_an_axis_that_is_none_is_refused(text, reason):
    with pytest.raises(BadInput, match=reason):
        Axis.of(text)


def test_all_combinations_are_resolved_as_the_command_line_would():
    axes = (Axis.of("control.gains=default,paper"), Axis.of("wind.speed=0:4:2"))
    study = Study("hover", Options(duration=2.0), axes, seeds=3)
    points = study.points()
    assert study.runs == 12
    assert [tuple(point.varied.values()) for point in points] == [
        ("default", 0.0),
        ("default", 4.0),
        ("paper", 0.0),
        ("paper", 4.0),
    ]
    by_hand = Options(duration=2.0, gains="paper", seed=0, assignments=("wind.speed=4.0",))
    assert points[3].tree == resolve("hover", by_hand)[1]


@pytest.mark.slow
def test_what_cannot_be_flown_is_refused_before_anything_is():
    with pytest.raises(BadInput, match="wind.spede"):
        Study("hover", axes=(Axis.of("wind.spede=1,2"),)).points()
    with pytest.raises(BadInput, match=r"with wind.speed = -1.*wind.speed"):
        Study("hover", axes=(Axis.of("wind.speed=1,-1"),)).points()
    with pytest.raises(BadInput, match="wind.speed.*twice"):
        Study("hover", axes=(Axis.of("wind.speed=1,2"), Axis.of("wind.speed=3,4")))
    with pytest.raises(BadInput, match="--seeds 0"):
        Study("hover", seeds=0)
    for seed in (-1, 2**63):
        with pytest.raises(BadInput, match=f"--seed {seed}:"):
            Study("hover", Options(seed=seed), seeds=2)
    with pytest.raises(BadInput, match="more than"):
        Study("hover", axes=(Axis.of("a=0:1:100000"),), seeds=1000)
    with pytest.raises(BadInput, match="200000 combinations are more than"):
        Study("hover", axes=(Axis.of("a=0:1:100000"), Axis.of("b=1,2")))
    with pytest.raises(BadInput, match="--count 0"):
        Study("hover", seeds=0, records=True)


def test_work_is_named_by_what_it_is():
    tree = resolve("hover", Options())[1]
    name = fingerprint(tree, (0, 1))
    assert fingerprint({**tree, "seed": 7}, [0, 1]) == name
    assert fingerprint(tree, (0, 2)) != name
    assert fingerprint({**tree, "duration": 1.5}, (0, 1)) != name


def test_wilson_intervals():
    """Against the roots of its defining equation, (p - k/n)^2 = z^2 p (1 - p) / n."""
    z = 1.959963984540054
    for k, n in ((0, 10), (5, 10), (95, 100), (1000, 1000)):
        low, high = wilson_interval(k, n)
        assert 0.0 <= low <= k / n <= high <= 1.0
        for p in (low, high):
            assert (p - k / n) ** 2 == pytest.approx(z * z * p * (1 - p) / n, abs=1e-15)
    assert wilson_interval(95, 100) == pytest.approx((0.8883, 0.9785), abs=1e-4)


def test_every_piece_comes_back_once():
    done = list(ProcessPool(2).map(square, range(50)))
    assert sorted((each.work, each.result) for each in done) == [(x, x * x) for x in range(50)]


@pytest.mark.slow
def test_what_a_killed_process_was_at_is_begun_again(tmp_path):
    pool = ProcessPool(2)
    done = list(pool.map(die_first, [(str(tmp_path), x) for x in range(12)]))
    assert sorted(each.result for each in done) == [x * x for x in range(12)]
    assert pool.retried >= 2


@pytest.mark.slow
def test_work_that_always_kills_its_process_is_given_up():
    pool = ProcessPool(1)
    with pytest.raises(IapError, match=f"died {MAX_RETRIES + 1} times"):
        list(pool.map(die, [1]))


@pytest.mark.slow
def test_processes_end_with_their_pool():
    """Whoever stops asking for results leaves no process and no thread behind, whatever they are at."""
    threads = set(threading.enumerate())
    done = ProcessPool(2).map(stay, range(3))
    number = next(done).result
    done.close()
    assert set(threading.enumerate()) <= threads
    until = time.monotonic() + HANG
    while _is_alive(number) and time.monotonic() < until:
        time.sleep(0.05)
    assert not _is_alive(number)


def _is_alive(number):
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):  # it may end while its file is read
        return False
    return state != "Z"
