# SPDX-License-Identifier: BSD-3-Clause
"""The packages as pip sees them: what they declare, and a stranger's environment that has nothing but wheels."""

import contextlib
import json
import os
import runpy
import subprocess
import sys
from functools import cache
from pathlib import Path
from shutil import which

import pytest
import setuptools
from hang import HANG
from locks import REQUIREMENTS, normal, pins
from packaging.requirements import Requirement
from test_workspace import PYTHON_PACKAGES, ROOT, imports, is_core, manifest, modules

NAMES = {  # on indexes, of what is imported by another name
    "PIL": "pillow",
    "cv2": "opencv-python-headless",
    "llvmlite": "numba",
    "mpl_toolkits": "matplotlib",
    "mitsuba_oidn": "mitsuba-oidn",
    "mujoco": "mujoco-core",
    "warp": "warp-lang",
    "yaml": "pyyaml",
}
BROUGHT = {"drjit": "mitsuba", "h5py": "minari"}  # by another one
USERS_OWN = {  # libraries whose users have them, with adapters here
    "pettingzoo",
    "rl_games",
    "stable_baselines3",
    "tensordict",
    "torch",
    "torchrl",
}
OF_EXTRAS = {"numpy": "<2.5"}  # narrower than elsewhere, since numba-cuda fails with later ones
LOCKS = sorted((REQUIREMENTS / "lock").glob("*.txt"))


@cache
def declared(package):
    """The arguments that a setup.py hands to setuptools."""
    return declared_in(ROOT / package)


def declared_in(folder):
    found = {}
    with pytest.MonkeyPatch.context() as patch, contextlib.chdir(folder):
        patch.setattr(setuptools, "setup", found.update)
        patch.setattr(sys, "argv", ["setup.py", "bdist_wheel"])
        runpy.run_path("setup.py")
    return found


@pytest.mark.parametrize("package", PYTHON_PACKAGES)
def test_a_setup_file_also_works_where_colcon_links_it(package, tmp_path):
    for name in ("setup.py", "setup.cfg", "package.xml", package):
        (tmp_path / name).symlink_to(ROOT / package / name)
    assert declared_in(tmp_path)["version"] == declared(package)["version"]


def required(package):
    return list(map(Requirement, declared(package)["install_requires"]))


def extras():
    lists = declared("iap_suite")["extras_require"].values()
    return [Requirement(line) for lines in lists for line in lines]


@pytest.mark.parametrize("package", PYTHON_PACKAGES)
def test_a_wheel_requires_all_that_its_core_imports(package):
    outside = {name for path in modules(package) if is_core(path) for name in imports(path)}
    outside -= {*sys.stdlib_module_names, *USERS_OWN, package}
    outside = {BROUGHT.get(name, NAMES.get(name, name)) for name in outside}
    known = {normal(each.name) for each in [*required(package), *extras()]}
    assert {normal(name) for name in outside} <= known


@pytest.mark.parametrize("package", PYTHON_PACKAGES)
def test_versions_of_a_wheel_are_those_of_its_manifest(package):
    version = manifest(package).findtext("version")
    assert declared(package)["version"] == version
    ours = [each for each in required(package) if each.name in PYTHON_PACKAGES]
    assert {str(each.specifier) for each in ours} <= {f"=={version}"}


def test_ranges_admit_what_is_locked_and_are_the_same_everywhere():
    ranges = {}
    for each in [each for package in PYTHON_PACKAGES for each in required(package)] + extras():
        ranges.setdefault(normal(each.name), set()).add(str(each.specifier))
    for name, text in OF_EXTRAS.items():
        ranges[name].remove(text)
    assert {name: texts for name, texts in ranges.items() if len(texts) > 1} == {}
    for lock in LOCKS:
        for name, pinned in pins(lock).items():
            for text in ranges.get(name, ()):
                assert Requirement(f"{name}{text}").specifier.contains(pinned.lstrip("=")), name


@pytest.mark.parametrize("package", [*PYTHON_PACKAGES, "iap_msgs"])
def test_a_package_has_the_licence_with_it(package):
    assert (ROOT / package / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_a_wheel_has_no_programs_that_need_ros():
    scripts = {
        script
        for package in PYTHON_PACKAGES
        for script in declared(package).get("entry_points", {}).get("console_scripts", [])
    }
    assert scripts == {"iap = iap_bringup.cli.main:main"}


def others():
    """Interpreters of other versions than this one, each once."""
    for minor in (13, 12, 11):
        name = f"python3.{minor}"
        versions = sorted(Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/{name}"))
        for path in [which(name), *map(str, versions)]:
            command = [path, "-c", "import sys, venv, ensurepip; print(sys.version_info[1])"]
            done = path and subprocess.run(command, capture_output=True, text=True, check=False)
            if done and done.stdout.strip() == str(minor) != str(sys.version_info[1]):
                yield path
                break


def test_wheels_without_setuptools_and_pip_are_refused_in_one_line(tmp_path):
    tool = ROOT / "tools" / "make_wheels.py"
    command = [sys.executable, "-I", "-S", tool, "--out", tmp_path / "dist"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and not list(tmp_path.iterdir())
    assert done.stderr.endswith("-m pip install 'setuptools>=70.1'\n") and "no pip" in done.stderr


def test_wheels_where_nothing_can_be_written_are_refused_in_one_line(tmp_path):
    (tmp_path / "file").touch()
    tool = ROOT / "tools" / "make_wheels.py"
    command = [sys.executable, "-I", tool, "--out", tmp_path / "file" / "dist"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert str(tmp_path / "file" / "dist") in done.stderr and "--out DIR" in done.stderr


def test_wheels_are_built_of_copies_that_can_be_written(tmp_path):
    tool = runpy.run_path(str(ROOT / "tools" / "make_wheels.py"))
    sources, build = tmp_path / "sources", tmp_path / "build"
    (sources / "iap_msgs").mkdir(parents=True)
    (sources / "iap_x" / "iap_x").mkdir(parents=True)
    (sources / "iap_x" / "setup.py").touch()
    (sources / "iap_x" / "iap_x").chmod(0o555)  # as in a checkout that is read-only
    tool["copied"].__globals__["ROOT"] = sources
    assert tool["copied"](build) == [build / "iap_x"]
    assert (build / "iap_x" / "iap_x").stat().st_mode & 0o200


def test_a_trial_of_the_wheels_refuses_steps_that_it_does_not_have():
    command = [sys.executable, "-P", ROOT / "tools" / "try_wheels.py", sys.executable, "flihgt"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "unknown step 'flihgt': core, flight, readme, examples, scenarios" in done.stderr


FLIGHT = """
import json, sys
import iap_suite as iap
result = iap.record("hover", folder=sys.argv[1], platform="star_4", duration=2.0, seed=3)
with iap.Simulation.of("hover", platform="star_4") as simulation:  # compiles little more
    while simulation.t < 0.1:
        state = simulation.step()
print(json.dumps([result.metrics["position_rmse_m"], float(state[0, 2])]))
"""


@pytest.mark.slow
def test_a_stranger_installs_wheels_and_flies_without_ros_or_compiler(tmp_path):
    python = next(others(), None)
    if python is None:
        pytest.skip("no other Python from 3.11 to 3.13 on this machine")
    index = [sys.executable, "-m", "pip", "download", "--no-deps", "-qd", tmp_path, "idna"]
    if subprocess.run(index, capture_output=True, check=False).returncode:
        pytest.skip("no package index is reachable")
    dist, home = tmp_path / "dist", tmp_path / "env"
    wheels = [sys.executable, "-P", ROOT / "tools" / "make_wheels.py", "--out", dist]
    subprocess.run(wheels, check=True, capture_output=True)
    env = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "LANG"))}
    env |= {"PATH": "/nonexistent", "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}

    def run(*command):
        done = subprocess.run(
            list(map(str, command)),
            env=env,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=10 * HANG,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    run(python, "-m", "venv", home)
    pip = (home / "bin" / "python", "-m", "pip")
    # --no-compile: most of what is installed is never imported here
    run(*pip, "install", "-q", "--no-compile", "--find-links", dist, "iap-suite[mujoco]")
    flown = run(home / "bin" / "python", "-c", FLIGHT, tmp_path / "run")
    rmse, height = json.loads(flown.stdout)
    assert rmse < 1e-3
    assert height > 0.5
    assert "compiled" in flown.stderr and str(tmp_path) in flown.stderr
    words = ("run", "hover", "--platform", "star_4", "--duration", "0.5")
    done = run(home / "bin" / "iap", *words, "--out", tmp_path / "two")
    assert "engine mujoco" in done.stdout
    assert "pip install 'viser" in done.stdout
    assert list((tmp_path / "two" / "bag").glob("*.mcap"))
    assert not list(home.rglob("*.nbi"))
