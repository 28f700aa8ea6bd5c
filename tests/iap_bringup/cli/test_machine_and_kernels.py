# SPDX-License-Identifier: BSD-3-Clause
"""Trainings, kernels that are compiled ahead, and what a machine has."""

from argparse import Namespace
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from iap_bringup.cli import machine, train, warm_up
from iap_bringup.cli.main import main
from iap_description.errors import BadInput
from iap_learning.tasks.task import TASKS


def test_a_training_begins_by_its_options_or_goes_on_and_says_how(monkeypatch, tmp_path, capsys):
    pytest.importorskip("jax")
    from iap_learning.training import experiment as experiments
    from iap_learning.training import training

    made, trained = (
        [],
        SimpleNamespace(
            rows=[1], folder=tmp_path, best=SimpleNamespace(success=0.975, returns=1.234, steps=99)
        ),
    )
    experiment = SimpleNamespace(
        name="hold", seed=3, offline=None, dagger=None, online=SimpleNamespace(steps=50)
    )
    monkeypatch.setattr(
        experiments,
        "make_experiment",
        lambda name, choice: made.append((name, choice)) or experiment,
    )
    monkeypatch.setattr(
        experiments, "read_experiment", lambda folder: made.append(folder) or experiment
    )
    monkeypatch.setattr(
        training, "begin", lambda experiment, folder, watch: made.append("begin") or trained
    )
    monkeypatch.setattr(training, "go_on", lambda folder, watch: made.append("go on") or trained)
    monkeypatch.setattr(train, "draw_training", lambda folder, rows: made.append(rows))
    words = [
        "--preset",
        "hard",
        "--offline",
        "none",
        "--online",
        "ppo",
        "--seed",
        "4",
        "--steps",
        "64",
        "--set",
        "a=1",
    ]
    assert main(["train", "hold", *words, "--out", str(tmp_path / "t")]) == 0
    name, choice = made[0]
    assert name == "hold_hard" and made[1:] == ["begin", [1]]
    assert (
        choice.offline,
        choice.online,
        choice.seed,
        choice.steps,
        tuple(choice.assignments),
    ) == ("none", "ppo", 4, 64, ("a=1",))
    assert (
        "97.5% of episodes without exploration, return 1.23, after 99 steps"
        in capsys.readouterr().out
    )
    made.clear()
    assert main(["train", "--resume", str(tmp_path)]) == 0 and made == [tmp_path, "go on", [1]]
    for more in (
        ["--seed", "0"],
        ["--set", "a=1"],
        ["--preset", "hard"],
        ["--steps", "5"],
        ["--offline", "bc"],
    ):
        assert main(["train", "--resume", str(tmp_path), *more]) == 2
    assert main(["train"]) == 2 and "a task is expected" in capsys.readouterr().err
    both = SimpleNamespace(
        offline=SimpleNamespace(method="bc", bc=SimpleNamespace(updates=7)),
        dagger=None,
        online=SimpleNamespace(steps=9),
    )
    assert train._totals(both) == {"offline": 7, "online": 9} and train._totals(experiment) == {
        "online": 50
    }

    def interrupted(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stop:
        train._watched(train.Console(), experiment, tmp_path, interrupted)
    assert stop.value.args == ()
    (tmp_path / train.CHECKPOINT).touch()
    with pytest.raises(KeyboardInterrupt) as stop:
        train._watched(train.Console(), experiment, tmp_path, interrupted)
    assert f"iap train --resume {tmp_path} goes on" in stop.value.args[0]


def test_kernels_of_every_kind_of_flight_are_compiled_ahead(monkeypatch, tmp_path):
    flown, made = [], []
    monkeypatch.setattr(
        warm_up,
        "record",
        lambda name, *, folder, **options: flown.append((name, folder.name, options)),
    )
    monkeypatch.setattr(warm_up, "_can_draw", lambda: True)
    monkeypatch.setattr(warm_up, "smoothed", lambda levels: made.append(levels.ndim))
    for share in (
        warm_up._first_flights,
        warm_up._first_of_other_laws,
        warm_up._pybullet,
        warm_up._estimates,
        warm_up._scenarios,
        warm_up._closed_form,
    ):
        share(tmp_path)
    names = [name for name, _, _ in flown]
    assert {"three_star_spiral", "figure_eight_windy", *warm_up.SCENARIOS} <= set(
        names
    ) and made == [2, 3]
    platforms = [options["platform"] for _, _, options in flown if "platform" in options]
    assert platforms == ["two_line", "f450", *warm_up.PLATFORMS, *warm_up.PLATFORMS]
    engines = {
        options["assignments"][0]
        for _, _, options in flown
        if "platform" in options and "assignments" in options
    }
    assert engines == {"engine.name=pybullet", "engine.name=closed_form"}
    assert {options["duration"] for _, _, options in flown} == {0.2, 2.0}  # on estimates
    assert [options["state_source"] for _, _, options in flown if "state_source" in options] == [
        "joint",
        "virpo",
        "drift_filter",
    ]
    sampled = [
        options["assignments"][0]
        for _, folder, options in flown
        if folder in ("integrating", "instantaneous")
    ]
    assert sampled == ["sensors.imu.sampling=integrating", "sensors.imu.sampling=instantaneous"]
    monkeypatch.setattr(warm_up, "_can_draw", lambda: False)
    assert warm_up._sensing("x")["sensors"] == "imu,uwb"
    flown.clear()
    warm_up._estimates(tmp_path)
    assert flown == []


def test_kernels_of_worlds_rays_tasks_and_contact_are_compiled_ahead(monkeypatch, tmp_path):
    done = []

    class Made:
        def __init__(self, *what, **how):
            done.append((*what, *how.values()))
            self.plant = self

        def __getattr__(self, name):
            return lambda *given, **how: done.append((name, *given, *how.values())) or self

    monkeypatch.setattr(warm_up, "Worlds", SimpleNamespace(of=Made))
    monkeypatch.setattr(warm_up, "record", lambda name, **how: done.append((name, how)))
    monkeypatch.setattr(
        warm_up,
        "WorldRaySensor",
        SimpleNamespace(of=lambda _, preset, outputs: Made(preset, "depth" in outputs)),
    )
    warm_up._worlds(tmp_path)
    steps = [("advance",), ("advance",), ("fly", 1)]
    made = [("hover", 2, platform) for platform in ("three_star", "two_line", "f450")]
    assert done[:-1] == [each for one in made for each in (one, *steps)]
    name, how = done.pop()
    assert (name, how["assignments"]) == ("hover", ("engine.name=closed_form",))
    done.clear()
    warm_up._single_precision(tmp_path)
    assert done == [("hover", 2, "float32"), ("control",), ("advance",), ("fly", 1)]
    done.clear()
    warm_up._rays(tmp_path)
    assert done[1:] == [
        ("advance",),
        ("d455", True),
        ("images",),
        ("vl53l5cx", False),
        ("images",),
    ]
    done.clear()
    warm_up._contact(tmp_path)
    modes = [tuple(how["assignments"][:2]) for name, how in done if name == "wall_push"]
    assert modes == [
        (f"engine.name={engine}", f"control.wrench_mode={mode}")
        for engine in ("pybullet", "mujoco")
        for mode in ("selective", "paper")
    ]
    assert done[-1][0] == "peg_in_hole" and "control.admittance=true" in done[-1][1]["assignments"]
    done.clear()
    warm_up._contact_worlds(tmp_path)
    touching = {"engine.name": "mujoco", "control.wrench_mode": "none"}
    made = [("wall_push", 2, touching, platform) for platform in ("three_star", "f450")]
    plain = {"engine.name": "mujoco", "arm.feed_forward": "none"}
    made += [
        ("two_platforms", 2, {"engine.name": "mujoco"}, "none"),
        ("arm_pick", 2, plain, "none"),
    ]
    assert done == [each for one in made for each in (one, ("advance",))]
    done.clear()
    warm_up._closed_form(tmp_path)
    assert [(name, how["folder"].name) for name, how in done[-2:]] == [
        ("hover", "late"), ("two_platforms", "two"),
    ]  # fmt: skip
    assert all(how["assignments"][0] == "engine.name=closed_form" for _, how in done)
    done.clear()
    monkeypatch.setattr(warm_up, "make_episodes", Made)
    monkeypatch.setattr(warm_up, "baseline", lambda agent: Made(agent))
    monkeypatch.setattr(
        warm_up, "step_until_over", lambda *_: iter(lambda: done.append("step") or 0, 1)
    )
    warm_up._tasks(tmp_path)
    pairs = [(task, agent) for task in TASKS.names() for agent in ("controller", "zero")]
    count = len(pairs) + len(warm_up.EXPERTS)
    assert done.count("step") == 3 * count and done.count(("reset", range(2))) == count
    found = [each for each in done if isinstance(each, tuple) and each[0] in TASKS.names()]
    assert found == [(task, 2) for task, _ in (*pairs, *warm_up.EXPERTS)]


def test_shares_of_kernels_are_all_or_the_first_in_a_few_processes(monkeypatch):
    done = []

    @contextmanager
    def pool(processes, context):
        done.append(processes)
        yield SimpleNamespace(map=lambda make, shares: [done.append(shares)])

    monkeypatch.setattr(warm_up, "ProcessPoolExecutor", pool)
    of_eight = SimpleNamespace(sched_getaffinity=lambda _: range(8))
    monkeypatch.setattr(warm_up, "os", of_eight)
    warm_up.main([])
    warm_up.main(["--all"])
    assert done == [3, warm_up.FIRST, 3, warm_up.SHARES]
    places = []
    warm_up._make(lambda folder: places.append((folder, folder.is_dir())))
    assert places[0][1] and not places[0][0].exists()


def test_the_machine_is_described_as_it_is(monkeypatch, tmp_path):
    count, memory = machine.processors().split(", ")
    assert int(count) >= 1 and memory.endswith(" GB of memory") and float(memory.split()[0]) > 0.1
    for free, remedy in ((64e6, ""), (63e6, "docker run --shm-size=256m, or a larger /dev/shm")):
        monkeypatch.setattr(
            machine.shutil, "disk_usage", lambda _, free=free: SimpleNamespace(free=free)
        )
        assert machine.shared_memory() == (f"{free / 1e6:.0f} MB free", remedy)
    monkeypatch.setattr(machine, "SHARED_MEMORY", tmp_path / "none")
    assert machine.shared_memory() == ("none", "mount a tmpfs at /dev/shm")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "k.nbc").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert machine.kernel_cache() == (f"1 in {tmp_path}", "")
    monkeypatch.setattr(machine.os, "access", lambda path, mode: False)
    assert (
        "cannot be written" in machine.kernel_cache()[0] and "chmod" in machine.kernel_cache()[1]
    )
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    assert machine.kernel_cache()[1] == ""
    monkeypatch.setattr(
        machine.shutil, "which", lambda name: "/bin/firefox" if name == "firefox" else None
    )
    assert machine.browser() == "/bin/firefox"
    monkeypatch.setattr(machine.shutil, "which", lambda name: None)
    assert machine.browser() == ""


def test_drivers_and_packages_of_ros_are_found_where_they_are(monkeypatch, tmp_path):
    monkeypatch.setattr(machine, "DRIVER", tmp_path / "version")
    assert machine.cuda_driver() == ""
    (tmp_path / "version").write_text("NVRM version: NVIDIA UNIX x86_64  550.54  Thu\nmore 1.2\n")
    assert machine.cuda_driver() == "550.54"
    (tmp_path / "version").write_text("odd words\n")
    assert machine.cuda_driver() == "there"
    index = tmp_path / "share/ament_index/resource_index/packages"
    index.mkdir(parents=True)
    (index / "joy").touch()
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"/nowhere:{tmp_path}")
    found = machine.ros_packages()
    assert (
        found["joy"] == ("installed", "no stick")
        and found["rviz2"][0] == ""
        and set(found) == set(machine.ROS_PACKAGES)
    )
    spec = Namespace(origin="/opt/ros/lib/site-packages/rclpy/__init__.py")
    monkeypatch.setattr(machine, "find_spec", lambda name: spec if name == "rclpy" else None)
    monkeypatch.setenv("ROS_DISTRO", "kilted")
    monkeypatch.setenv("RMW_IMPLEMENTATION", "rmw_x")
    assert machine.ros_underlay() == "ROS 2 kilted, rmw_x"
    monkeypatch.delenv("ROS_DISTRO")
    monkeypatch.delenv("RMW_IMPLEMENTATION")
    assert machine.ros_underlay() == "wheels, /opt/ros/lib/site-packages, default middleware"
    assert (
        machine.graphics() == ("moderngl is not installed", False) and machine.video_codecs() == []
    )
    monkeypatch.setattr(machine, "find_spec", lambda name: None)
    assert machine.ros_underlay() == ""
    with pytest.raises(BadInput):
        raise BadInput("as commands refuse")
