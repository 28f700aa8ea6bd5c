# SPDX-License-Identifier: BSD-3-Clause
"""The set-up behind ./iap: what makes it start again, and how it ends when it cannot go on."""

import hashlib
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from zipfile import ZipFile

import pytest
from checkouts import call, copied_checkout, environment
from hang import HANG
from numba.core.caching import UserProvidedCacheLocator

ROOT = Path(__file__).parents[2]


def key(checkout, part):
    command = f'root="{checkout}"; . "$root/tools/workspace.sh"; key_of_{part}'
    return subprocess.check_output(["bash", "-c", command], text=True)


def edit(path):
    with path.open("a", encoding="utf-8") as file:
        file.write("# edited\n")


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory):
    """A copy as `checkout`'s, for those who leave it as it was."""
    return copied_checkout(tmp_path_factory.mktemp("unchanged"))


@contextmanager
def edited(path):
    text = path.read_bytes()
    edit(path)
    try:
        yield
    finally:
        path.write_bytes(text)


@pytest.mark.parametrize(
    ("part", "path"),
    [
        ("wheels", "requirements/lock/installer.txt"),
        ("wheels", "requirements/lock/core.txt"),
        ("wheels", "requirements/lock/ros.txt"),
        ("dev", "requirements/lock/dev.txt"),
        ("messages", "iap_msgs/msg/PlatformState.msg"),
        ("packages", "iap_bringup/setup.py"),
        ("packages", "iap_control/package.xml"),
        ("kernels", "iap_description/iap_description/math/kernels.py"),
        ("kernels", "iap_description/iap_description/states.py"),
    ],
)
def test_an_edit_makes_its_part_anew(unchanged, part, path):
    before = key(unchanged, part)
    assert key(unchanged, part) == before
    with edited(unchanged / path):
        assert key(unchanged, part) != before


@pytest.mark.parametrize(
    ("version", "lock"), [("3.11.7", "ros"), ("3.12.1", "jazzy"), ("3.13.0", "ros")]
)
def test_a_python_takes_the_ros_2_whose_python_it_is(checkout, version, lock):
    (checkout / ".venv").mkdir()
    (checkout / ".venv" / "pyvenv.cfg").write_text(f"home = /usr/bin\nversion = {version}\n")
    before = key(checkout, "wheels")
    for name in ("ros", "jazzy"):
        with edited(checkout / "requirements" / "lock" / f"{name}.txt"):
            assert (key(checkout, "wheels") != before) == (name == lock)


def test_an_edit_of_plain_python_makes_nothing_anew(unchanged):
    parts = ("python", "wheels", "messages", "packages", "kernels")
    before = [key(unchanged, part) for part in parts]
    with edited(unchanged / "iap_description/iap_description/errors.py"):
        assert [key(unchanged, part) for part in parts] == before


def test_a_new_launch_file_is_linked_by_a_new_build(checkout):
    before = key(checkout, "packages")
    (checkout / "iap_bringup/launch").mkdir(exist_ok=True)
    (checkout / "iap_bringup/launch/new.launch.py").touch()
    assert key(checkout, "packages") != before


def test_bytecode_of_a_launch_file_that_was_imported_makes_nothing_anew(checkout):
    before = key(checkout, "packages")
    (checkout / "iap_bringup" / "launch" / "__pycache__").mkdir()
    assert key(checkout, "packages") == before


def chosen(checkout, env, what):
    command = f'root="{checkout}"; . "$root/tools/workspace.sh"; echo "${what}"'
    return subprocess.check_output(["bash", "-c", command], env=env, text=True).strip()


def with_ros(env, distro="jazzy", prefixes="/opt/ros/jazzy"):
    """The environment after a ROS 2 is sourced that the stand-in for Python can import."""
    return env | {"ROS_DISTRO": distro, "AMENT_PREFIX_PATH": prefixes}


def test_every_underlay_has_an_environment_of_its_own(unchanged, tmp_path):
    env = environment(tmp_path, venv="exit 3")
    assert chosen(unchanged, env, "underlay") == "wheels"
    assert chosen(unchanged, env, "venv") == f"{unchanged}/.venv"
    jazzy = with_ros(env, prefixes=f"{unchanged}/.venv-jazzy/install/iap_msgs:/opt/ros/jazzy")
    assert chosen(unchanged, jazzy, "underlay") == "jazzy:/opt/ros/jazzy"
    assert chosen(unchanged, jazzy, "venv") == f"{unchanged}/.venv-jazzy"
    assert chosen(unchanged, with_ros(env, "kilted"), "venv") == f"{unchanged}/.venv-kilted"


def test_a_ros_that_python_cannot_import_leaves_the_wheels(unchanged, tmp_path):
    env = environment(tmp_path, venv="exit 3")
    python = tmp_path / "bin" / "python3"
    python.write_text("#!/bin/sh\nexit 1\n")
    assert chosen(unchanged, with_ros(env), "underlay") == "wheels"


def test_a_sourced_ros_leaves_the_environment_of_the_wheels_and_the_users_own_build(
    checkout, tmp_path
):
    kept = [
        checkout / ".venv/stamps/python",
        checkout / "build/iap_msgs",
        checkout / "install/setup.bash",
    ]
    for path in kept:
        path.mkdir(parents=True)
    env = environment(tmp_path, venv=f"echo making $*; mkdir -p {checkout}/made; exit 3")
    done = call(checkout, with_ros(env))
    assert done.returncode == 1
    assert f"making -m venv --system-site-packages {checkout}/.venv-jazzy" in done.stderr
    assert (checkout / "made").is_dir()
    assert all(path.is_dir() for path in kept)


def test_another_lock_makes_the_environment_anew(checkout, tmp_path):
    env = environment(tmp_path, venv="echo made anew; exit 3")
    stamps = checkout / ".venv" / "stamps"
    stamps.mkdir(parents=True)
    for part in ("python", "underlay", "wheels"):
        (stamps / part).write_text(key(checkout, part))
    edit(checkout / "requirements" / "lock" / "core.txt")
    assert "made anew" in call(checkout, env).stderr


def test_tests_need_all_kernels_compiled_and_runs_those_of_single_flights(checkout):
    stamps = checkout / ".venv" / "stamps"
    stamps.mkdir(parents=True)
    for part in ("python", "underlay", "wheels", "dev", "messages", "packages", "kernels"):
        (stamps / part).write_text(key(checkout, part))
    cache = checkout / ".venv" / "numba" / "states"
    cache.mkdir(parents=True)
    (cache / "kernel.nbc").touch()
    ready = f'root="{checkout}"; . "$root/tools/workspace.sh"; is_ready '
    assert subprocess.call(["bash", "-c", f"{ready} run"]) == 0
    assert subprocess.call(["bash", "-c", f"{ready} dev"]) != 0
    (stamps / "dev_kernels").write_text(key(checkout, "dev_kernels"))
    assert subprocess.call(["bash", "-c", f"{ready} dev"]) == 0


def test_kernels_that_are_gone_are_made_anew(checkout):
    stamps = checkout / ".venv" / "stamps"
    stamps.mkdir(parents=True)
    (stamps / "kernels").write_text(key(checkout, "kernels"))
    fresh = f'root="{checkout}"; . "$root/tools/workspace.sh"; is_fresh kernels'
    cache = checkout / ".venv" / "numba" / "states"
    assert subprocess.call(["bash", "-c", fresh]) != 0
    cache.mkdir(parents=True)
    assert subprocess.call(["bash", "-c", fresh]) != 0
    (cache / "kernel.nbc").touch()
    assert subprocess.call(["bash", "-c", fresh]) == 0


def toy_wheel(folder, name):
    """A wheel of one module; returns its SHA-256."""
    path = folder / f"{name}-1.0-py3-none-any.whl"
    about = f"{name}-1.0.dist-info"
    with ZipFile(path, "w") as file:
        file.writestr(f"{name}.py", "")
        file.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        file.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(f"{about}/RECORD", "")
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_file_that_is_not_the_locked_one_is_not_installed(checkout, tmp_path):
    right, wrong = toy_wheel(tmp_path, "right"), "0" * 64
    toy_wheel(tmp_path, "wrong")
    locks = checkout / "requirements" / "lock"
    (locks / "installer.txt").write_text(f"right==1.0 --hash=sha256:{right}\n")
    (locks / "core.txt").write_text(f"wrong==1.0 --hash=sha256:{wrong}\n")
    python = checkout / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    pip = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": tmp_path, "PIP_TARGET": tmp_path / "there"}
    done = subprocess.run(
        ["bash", checkout / "tools" / "make_part.sh", "wheels"],
        env=environment(tmp_path, venv="exit 3") | pip | {"root": checkout, "python": python},
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
    )
    assert done.returncode != 0
    assert "DO NOT MATCH THE HASHES" in done.stderr
    assert (tmp_path / "there" / "right.py").is_file()
    assert not (tmp_path / "there" / "wrong.py").exists()


@pytest.mark.parametrize(("asked", "heard"), [("", "LOCALHOST"), ("SUBNET", "SUBNET")])
def test_nodes_hear_this_host_only_unless_the_user_wants_more(checkout, asked, heard):
    (checkout / ".venv").mkdir()
    (checkout / ".venv" / "environment.sh").touch()
    script = 'root=$1; . "$root/tools/workspace.sh"; enter_environment; printenv "$2"'
    variable = "ROS_AUTOMATIC_DISCOVERY_RANGE"
    env = {key: value for key, value in os.environ.items() if key != variable}
    env |= {variable: asked} if asked else {}
    command = ["bash", "-c", script, "bash", checkout, variable]
    assert subprocess.check_output(command, text=True, env=env).strip() == heard


def test_a_moved_checkout_needs_a_new_environment(checkout, tmp_path):
    before = key(checkout, "python")
    moved = checkout.rename(tmp_path / "moved")
    assert key(moved, "python") != before


def test_a_moved_checkout_says_why_it_is_set_up_anew_and_keeps_its_kernels(checkout, tmp_path):
    stamps, sources = checkout / ".venv" / "stamps", "iap_description/iap_description/math"
    stamps.mkdir(parents=True)
    for part in ("python", "underlay", "wheels"):
        (stamps / part).write_text(key(checkout, part))
    moved = checkout.rename(tmp_path / "moved")
    numba = moved / ".venv" / "numba"
    before = name_of(f"{checkout}/.venv/build/{sources}")
    (numba / before).mkdir(parents=True)
    (numba / before / "kernel.nbc").write_text("code")
    done = call(moved, environment(tmp_path, venv="exit 3"))
    assert f"was made at {checkout}" in done.stderr and "kernels" in done.stderr
    kept = moved / ".venv-kernels"
    assert (kept / "root").read_text().strip() == str(checkout)
    (moved / ".venv" / "build" / "iap_description").mkdir(parents=True)
    link = moved / ".venv" / "build" / "iap_description" / "iap_description"
    link.symlink_to(moved / "iap_description" / "iap_description")
    program = [sys.executable, "-P", str(moved / "tools" / "move_kernels.py")]
    cache = kept / "numba"
    places = [str(cache), f"{checkout}/.venv/build", f"{moved}/.venv/build"]
    subprocess.run([*program, *places], check=True)
    after = cache / name_of(f"{moved}/.venv/build/{sources}")
    assert (after / "kernel.nbc").read_text() == "code"


def name_of(folder):
    """numba's name for the kernels of a folder."""
    locator = UserProvidedCacheLocator
    return locator.get_suitable_cache_subpath(f"{folder}/module.py")


def test_a_path_with_a_space_is_refused_in_one_line(checkout, tmp_path):
    moved = checkout.rename(tmp_path / "check out")
    done = call(moved, environment(tmp_path, venv="exit 0"))
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert str(moved) in done.stderr


def test_a_path_beyond_ascii_is_set_up_by_the_wheels_and_refused_for_another_ros(
    checkout, tmp_path
):
    moved = checkout.rename(tmp_path / "Prüfstand")
    env = environment(tmp_path, venv="exit 3")
    done = call(moved, with_ros(env))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1 and "beyond ASCII" in done.stderr
    assert not any(moved.glob(".venv*"))
    assert "set-up failed at 'Python environment" in call(moved, env).stderr


def test_cmake_reads_paths_beyond_ascii_by_the_wheels(tmp_path):
    file = tmp_path / "share" / "rosidl_adapter" / "cmake" / "rosidl_adapt_interfaces.cmake"
    file.parent.mkdir(parents=True)
    file.write_text('  file(STRINGS "${idl_output}" idl_tuples)\n')
    program = (
        f"import sys; sys.prefix = {str(tmp_path)!r}; import patch_wheels; "
        + 2 * "patch_wheels.main(); "
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT / "tools", check=True)
    assert file.read_text() == '  file(STRINGS "${idl_output}" idl_tuples ENCODING UTF-8)\n'


def test_packages_go_into_the_environment_where_pip_is_set_to_take_the_users_folder(
    checkout, tmp_path
):
    said = tmp_path / "said"
    python = checkout / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\necho "$PIP_USER" >{said}\nexit 3\n')
    python.chmod(0o755)
    env = environment(tmp_path, venv="exit 3") | {"PIP_USER": "1", "root": checkout}
    subprocess.run(
        ["bash", checkout / "tools" / "make_part.sh", "wheels"],
        env=env,
        capture_output=True,
        timeout=HANG,
        check=False,
    )
    assert said.read_text() == "0\n"


def test_a_module_on_the_users_own_path_is_found_behind_those_of_the_suite(checkout, tmp_path):
    (checkout / ".venv").mkdir()
    (checkout / ".venv" / "environment.sh").write_text("export PYTHONPATH=/ours\n")
    for name, content in (("my_law", "class Law: ..."), ("yaml", "raise SystemExit(7)")):
        (tmp_path / f"{name}.py").write_text(content)
    script = 'root=$1; . "$root/tools/workspace.sh"; enter_environment; exec "${@:2}"'
    ours = "from iap_description.config.plugins import load_class; import yaml;"
    ours += "print(load_class('my_law:Law', [], key='k').__name__)"
    paths = [each for each in sys.path if each]
    code = f"import sys; sys.path[:0] = {paths!r}; {ours}"
    env = os.environ | {"PYTHONPATH": str(tmp_path)}
    command = ["bash", "-c", script, "bash", checkout, sys.executable, "-P", "-c", code]
    assert subprocess.check_output(command, text=True, env=env) == "Law\n"


def test_who_cannot_write_in_a_checkout_has_its_kernels_and_keeps_new_ones_at_home(
    checkout, tmp_path
):
    made = checkout / ".venv" / "numba" / "states"
    made.mkdir(parents=True)
    (made / "kernel.nbc").write_text("code")
    (checkout / ".venv" / "environment.sh").touch()
    # root can write anywhere: -w is a function that says no
    script = (
        'root=$1; . "$root/tools/workspace.sh"; NUMBA_CACHE_DIR=$venv/numba;'
        ' take_kernels; echo "$NUMBA_CACHE_DIR"; cat "$NUMBA_CACHE_DIR/states/kernel.nbc"'
    )
    env = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    for _ in range(2):
        command = ["bash", "-c", script, "bash", checkout]
        place, code = subprocess.check_output(command, text=True, env=env).splitlines()
        assert place.startswith(str(tmp_path / "cache")) and code == "code"
    (Path(place) / "states" / "new.nbc").write_text("more")
    assert not (made / "new.nbc").exists()


def test_another_user_who_would_have_to_set_up_reads_so_in_one_line(checkout, tmp_path):
    script = (
        'set -euo pipefail; root=$1; . "$root/tools/workspace.sh"; . "$root/tools/setup.sh";'
        " can_write() { return 1; }; set_up run"
    )
    done = subprocess.run(
        ["bash", "-c", script, "bash", checkout],
        env=environment(tmp_path, venv="exit 0"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1 and "cannot write there" in done.stderr


def test_a_failure_shows_the_step_and_its_output(checkout, tmp_path):
    env = environment(tmp_path, venv="echo no room; exit 3")
    done = call(checkout, env, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "    no room" in done.stderr.splitlines()
    assert "set-up failed at 'Python environment" in done.stderr
    assert not (checkout / ".venv/stamps/python").exists()


def test_a_network_that_is_not_there_is_one_line(checkout, tmp_path):
    words = "Retrying after NewConnectionError: Temporary failure in name resolution"
    done = call(checkout, environment(tmp_path, venv=f"echo {words}; exit 1"), cwd=tmp_path)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert "pip reaches no package index; connect to the network" in last
    assert words not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_ends_the_step_and_leaves_no_stamp(checkout, tmp_path, number, code):
    started = tmp_path / "started"
    env = environment(tmp_path, venv=f"touch {started}; sleep 60")
    process = subprocess.Popen(
        [checkout / "iap", "list"],
        env=env,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's & ignores it
    )
    deadline = time.monotonic() + HANG
    while not started.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(number)
    _, errors = process.communicate(timeout=HANG)
    assert process.returncode == code
    assert errors.splitlines()[-1] == "iap: set-up interrupted; the next call goes on with it"
    assert not (checkout / ".venv/stamps/python").exists()


@pytest.mark.slow
def test_a_second_call_waits_for_the_first(checkout, tmp_path):
    log = tmp_path / "calls"
    env = environment(tmp_path, venv=f"echo in >>{log}; sleep 1; echo out >>{log}; exit 1")
    calls = [
        subprocess.Popen([checkout / "iap", "list"], env=env, stderr=subprocess.DEVNULL)
        for _ in range(2)
    ]
    assert [process.wait(timeout=HANG) for process in calls] == [1, 1]
    assert log.read_text().split() == ["in", "out", "in", "out"]
