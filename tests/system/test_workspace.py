# SPDX-License-Identifier: BSD-3-Clause
"""The packages as packages: what they declare, what they import, and what they may not."""

import ast
import re
import subprocess
import sys
from configparser import ConfigParser
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hang import HANG
from locks import REQUIREMENTS, pins

ROOT = Path(__file__).parents[2]
MIDDLE = ["iap_control", "iap_estimation", "iap_physics", "iap_sensors"]  # never each other
BELOW = {"iap_description", "iap_io"}
MAY_IMPORT = {  # one direction, apart from iap_msgs, which node sides may import everywhere
    "iap_description": set(),
    "iap_io": {"iap_description"},
    **{package: BELOW for package in MIDDLE},
    "iap_simulation": {*BELOW, *MIDDLE},
    "iap_learning": {*BELOW, *MIDDLE, "iap_simulation"},
    "iap_bringup": {*BELOW, *MIDDLE, "iap_simulation", "iap_learning"},
    "iap_suite": {*BELOW, *MIDDLE, "iap_simulation", "iap_learning", "iap_bringup"},
}
PYTHON_PACKAGES = sorted(MAY_IMPORT)
PACKAGES = ["iap_msgs", *PYTHON_PACKAGES]

# Import name -> rosdep key or ROS package. What is imported must be declared under this name. The keys are those that
# rosdistro has (rosdep/python.yaml and base.yaml as of 2026-08-22) for noble, resolute and their distributions.
KEY_OF_IMPORT = {
    "cv2": "python3-opencv",
    "llvmlite": "python3-numba",  # which brings it
    "matplotlib": "python3-matplotlib",
    "mpl_toolkits": "python3-matplotlib",
    "numba": "python3-numba",
    "numpy": "python3-numpy",
    "PIL": "python3-pil",
    "pybullet": "python3-pybullet-pip",
    "pydantic": "python3-pydantic",
    "rich": "python3-rich",
    "rosbags": "python3-rosbags-pip",
    "scipy": "python3-scipy",
    "transforms3d": "python3-transforms3d",
    "trimesh": "python3-trimesh-pip",
    "yaml": "python3-yaml",
}
NO_KEY = {
    "embreex",
    "lz4",
    "moderngl",
    "viser",
}  # rosdep has none: docs/getting_started/ros2.md gives the line for pip
# Types of other suites, which are used where they are installed: not every distribution has them.
OF_OTHERS = {"crazyflie_interfaces"}
# What only modules import that are imported when they are asked for, and whose: no rosdep keys.
NOT_IMPORTED = "numba_cuda"  # which `numba.cuda` takes over where it is installed
EXTRAS = {
    "av": "iap_io",
    "coacd": "iap_description",
    "gtsam": "iap_estimation",
    "gymnasium": "iap_learning",
    "h5py": "iap_learning",
    "jax": "iap_learning",
    "minari": "iap_learning",
    "optax": "iap_learning",
    "tensorboardX": "iap_learning",
    "mujoco": "iap_physics",
    "onnx": "iap_learning",
    "pettingzoo": "iap_learning",
    "rl_games": "iap_learning",
    "stable_baselines3": "iap_learning",
    "tensordict": "iap_learning",
    "torch": "iap_learning",
    "torchrl": "iap_learning",
    "drjit": "iap_sensors",
    "mitsuba": "iap_sensors",
    "mitsuba_oidn": "iap_sensors",
    "warp": "iap_sensors",
}
ROS_PACKAGES = {
    "ament_cmake",
    "ament_index_python",
    "builtin_interfaces",
    "cv_bridge",
    "diagnostic_msgs",
    "geometry_msgs",
    "joy",
    "launch",
    "launch_pytest",
    "launch_ros",
    "nav_msgs",
    "rcl_interfaces",
    "rclpy",
    "robot_state_publisher",
    "rosgraph_msgs",
    "rosidl_default_generators",
    "rosidl_default_runtime",
    "rviz2",
    "sensor_msgs",
    "simulation_interfaces",
    "std_msgs",
    "std_srvs",
    "tf2_msgs",
    "trajectory_msgs",
    "visualization_msgs",
    "xacro",
}
KEYS_FOR_TESTS = {
    "python3-mypy",
    "python3-pytest",
    "python3-pytest-benchmark",
    "python3-ruff-pip",
}
KNOWN = set(PACKAGES) | ROS_PACKAGES | set(KEY_OF_IMPORT.values()) | KEYS_FOR_TESTS

MESSAGE_FILES = sorted([*ROOT.glob("iap_msgs/msg/*.msg"), *ROOT.glob("iap_msgs/srv/*.srv")])


def manifest(package: str) -> ElementTree.Element:
    return ElementTree.parse(ROOT / package / "package.xml").getroot()


def dependencies(package: str, kinds: str = "depend|exec_depend") -> set[str]:
    return {tag.text for tag in manifest(package) if re.fullmatch(kinds, tag.tag)}


@cache  # nearly every test here asks for all files
def import_nodes(path: Path) -> list[ast.Import | ast.ImportFrom]:
    """Statements that import something, at a file's head or inside a function."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    return [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package / package).rglob("*.py"))


def is_core(path: Path) -> bool:
    """True if a module may not know ROS: all but nodes, what they share in iap_io, and what launch files share."""
    package, *folders = path.relative_to(ROOT).parts[1:-1]
    shared = (package == "iap_io" and folders[:1] == ["ros"]) or path.name == "launch_actions.py"
    return "nodes" not in folders and not shared


@cache
def imports(path: Path) -> frozenset[str]:
    """Top-level names of the modules that a file imports, at its head or inside a function."""
    found = set()
    for node in import_nodes(path):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add(node.module.split(".")[0])
    return frozenset(found)


def imports_of(package: str) -> set[str]:
    """Top-level names of what a package imports from elsewhere, without today's exceptions."""
    found = set()
    for path in modules(package):
        found |= imports(path)
    return found - set(sys.stdlib_module_names) - {package}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_manifest_names_its_folder_and_how_it_is_built(package):
    root = manifest(package)
    assert root.get("format") == "3"
    assert root.findtext("name") == package
    assert root.findtext("license") == "BSD-3-Clause"
    built_by = "ament_cmake" if package == "iap_msgs" else "ament_python"
    assert root.findtext("export/build_type") == built_by


@pytest.mark.parametrize("package", PACKAGES)
def test_every_dependency_is_a_package_of_ours_or_a_known_key(package):
    unknown = dependencies(package, "(\\w+_)?depend") - KNOWN
    assert not unknown, f"{package}/package.xml: neither a ROS package nor a rosdep key: {unknown}"


@pytest.mark.parametrize("package", PYTHON_PACKAGES)
def test_what_a_package_imports_is_declared_in_its_manifest(package):
    without_key = NO_KEY | OF_OTHERS | set(EXTRAS)
    needed = {KEY_OF_IMPORT.get(name, name) for name in imports_of(package) - without_key}
    assert needed <= dependencies(package), f"{package}/package.xml lacks an exec_depend"


@pytest.mark.parametrize("package", PYTHON_PACKAGES)
def test_imports_between_packages_point_one_way(package):
    ours = imports_of(package) & set(PYTHON_PACKAGES)
    assert ours <= MAY_IMPORT[package]
    declared = dependencies(package) & set(PYTHON_PACKAGES)
    assert declared <= MAY_IMPORT[package]


@pytest.mark.parametrize("package", PYTHON_PACKAGES)
def test_colcon_runs_the_tests_of_a_package_by_its_settings(package):
    settings = ConfigParser()
    settings.read(ROOT / package / "setup.cfg")
    shares = {f"../tests/{package}"} | ({"../tests/system"} if package == "iap_bringup" else set())
    assert set(settings["tool:pytest"]["testpaths"].split()) == shares
    assert all((ROOT / package / share).is_dir() for share in shares)


MAX_ROOT_MODULES = 8


def folder(path: Path) -> str:
    """First folder of a module within its package; "." at the package's root."""
    inner = path.relative_to(ROOT).parts[2:-1]
    return inner[0] if inner else "."


def folders_imported(package: str, path: Path) -> set[str]:
    """Folders of its own package that a module imports from, at its head or inside a function."""
    folders = set()
    for node in import_nodes(path):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            top, *inner = name.split(".")
            if top == package and inner:
                is_folder = (ROOT / package / package / inner[0]).is_dir()
                folders.add(inner[0] if is_folder else ".")
    return folders - {folder(path)}


def test_no_two_folders_of_a_package_import_each_other():
    arrows = {
        (package, folder(path), to)
        for package in PYTHON_PACKAGES
        for path in modules(package)
        for to in folders_imported(package, path)
    }
    mutual = {(p, *sorted((a, b))) for p, a, b in arrows if (p, b, a) in arrows}
    assert not mutual


def modules_imported(name: str, path: Path, names: set[str]) -> set[str]:
    """Other modules that a module takes something of, also where types alone are checked."""
    out = set()
    for node in import_nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            out |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return (out & names) - {name}


def test_no_modules_import_each_other_in_a_circle():
    paths = {
        ".".join(path.relative_to(ROOT / package).with_suffix("").parts): path
        for package in PYTHON_PACKAGES
        for path in modules(package)
    }
    names = set(paths)
    graph = {name: modules_imported(name, path, names) for name, path in paths.items()}
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle


def test_no_two_files_of_tests_share_a_name():
    """Pytest imports them by their names alone: of two, one is never run."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))


def test_no_package_has_many_modules_at_its_root():
    crowded = {
        package
        for package in PYTHON_PACKAGES
        if len(list((ROOT / package / package).glob("[!_]*.py"))) > MAX_ROOT_MODULES
    }
    assert not crowded


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_is_imported_by_its_own_package_alone(extra):
    assert {package for package in PYTHON_PACKAGES if extra in imports_of(package)} == {
        EXTRAS[extra]
    }


@pytest.mark.parametrize("name", ["argparse", "rich"])
def test_commands_and_what_they_show_are_of_the_bringup_alone(name):
    users = {
        package
        for package in PYTHON_PACKAGES
        for each in modules(package)
        if name in imports(each)
    }
    assert users == {"iap_bringup"}


HEAVY = {"numba.cuda", "warp", "ray", "torch", "jax", "gymnasium", "gtsam", "mujoco", "mitsuba"}


@pytest.mark.slow
def test_the_simulation_comes_without_what_is_heavy():
    code = "import sys, iap_simulation.batch.worlds, iap_bringup.cli.main; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
    )
    assert not HEAVY & set(done.stdout.split())


def needs_extra(path: Path) -> bool:
    """True if a module is of use with an extra alone."""
    folders = set(path.relative_to(ROOT).parts)
    learns = "iap_learning" in folders and {"datasets", "environments", "training"} & folders
    at_head = {
        part
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ImportFrom)
        for part in node.module.split(".")
    }
    return bool(learns or EXTRAS.keys() & (imports(path) | folders | at_head))


def test_no_core_module_names_rclpy_or_a_message_type():
    ros_side = re.compile(r"rclpy|tf2_\w+|std_srvs|\w+_(msgs|interfaces)")
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for package in PYTHON_PACKAGES
        for path in modules(package)
        if is_core(path)
        for name in imports(path)
        if ros_side.fullmatch(name)
    }
    assert not found


IMPORT_ALL = """
import importlib, sys

class OnlyDeclared:
    def find_spec(self, name, path=None, target=None):
        frame, top = sys._getframe(1), name.partition(".")[0]
        while frame.f_code.co_filename.startswith("<frozen importlib"):
            frame = frame.f_back
        is_ours = frame.f_globals.get("__name__", "").startswith("iap_")
        if is_ours and top not in allowed:
            raise ModuleNotFoundError(f"{name} is not declared", name=name)

extras = sys.argv[2].split(",")
sys.modules.update(dict.fromkeys(extras))  # as if they were not installed
allowed = {*sys.stdlib_module_names, *sys.argv[1].split(",")}
sys.meta_path.insert(0, OnlyDeclared())
for name in sys.argv[3:]:
    importlib.import_module(name)
"""


def installed_with(package: str) -> set[str]:
    """Names that can be imported where a package is installed with what it declares, ROS apart."""
    ours = {package}
    for _ in PYTHON_PACKAGES:
        ours |= {name for each in ours for name in dependencies(each) & set(PYTHON_PACKAGES)}
    keys = {key for each in ours for key in dependencies(each)}
    named = {name for name, key in KEY_OF_IMPORT.items() if key in keys}
    return ours | named | NO_KEY | (keys & {"xacro"})


@pytest.mark.slow
@pytest.mark.parametrize("package", PYTHON_PACKAGES)
def test_core_modules_import_where_only_their_dependencies_are_and_no_ros(package):
    names = [
        ".".join(path.relative_to(ROOT / package).with_suffix("").parts)
        for path in modules(package)
        if is_core(path)
        and path.name not in ("__init__.py", "__main__.py")
        and not needs_extra(path)
    ]
    allowed = ",".join(installed_with(package))
    command = [
        sys.executable,
        "-P",
        "-c",
        IMPORT_ALL,
        allowed,
        ",".join([*EXTRAS, NOT_IMPORTED]),
        *names,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG, check=False)
    assert done.returncode == 0, done.stderr


def entry_points(package: str) -> list[str]:
    text = (ROOT / package / "setup.py").read_text(encoding="utf-8")
    strings = (n.value for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Constant))
    return [s for s in strings if isinstance(s, str) and re.fullmatch(r"\w+ = [\w.]+:\w+", s)]


EXECUTABLES = [(package, line) for package in PYTHON_PACKAGES for line in entry_points(package)]


@pytest.mark.parametrize(("package", "line"), EXECUTABLES)
def test_an_executable_is_a_function_that_exists(package, line):
    module, function = line.split(" = ")[1].split(":")
    assert module.split(".")[0] in {package, *MAY_IMPORT[package]}
    path = ROOT / module.split(".")[0] / (module.replace(".", "/") + ".py")
    assert path.is_file(), f"{line}: no {path.relative_to(ROOT)}"
    body = ast.parse(path.read_text(encoding="utf-8")).body
    made = {
        n.id
        for s in body
        if isinstance(s, ast.Assign)
        for n in ast.walk(s.targets[0])
        if isinstance(n, ast.Name)
    }
    assert function in made | {n.name for n in body if isinstance(n, ast.FunctionDef)}


@pytest.mark.parametrize("package", PYTHON_PACKAGES)
def test_every_node_has_an_executable_in_its_own_package(package):
    nodes = (path for path in modules(package) if path.parent.name == "nodes")
    running = {path.stem for path in nodes if "return run(" in path.read_text(encoding="utf-8")}
    aliases = {"scenario_node"}  # which runs under the names of the nodes that it stands for
    assert running - aliases <= {line.split(" = ")[0] for line in entry_points(package)}


@pytest.mark.parametrize("path", MESSAGE_FILES, ids=lambda path: path.name)
def test_every_field_of_a_message_has_a_comment_with_its_unit(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith(("#", " ", "---")):
            continue
        comment = line.partition("# ")[2]
        assert re.search(r"\[[^]]+\]|stamp:|stacked:", comment), f"{path.name}: {line}"


@pytest.mark.parametrize("path", MESSAGE_FILES, ids=lambda path: path.name)
def test_every_spatial_field_says_in_which_frame_it_is(path):
    spatial = re.compile(r"geometry_msgs/(Pose|Twist|Accel|Wrench|Vector3|Point|Quaternion)\b")
    for line in path.read_text(encoding="utf-8").splitlines():
        if spatial.match(line):
            comment = line.partition("# ")[2]
            assert re.search(r"\bin \w|<- \w|\bframe\b", comment), f"{path.name}: {line}"


def test_every_message_file_is_generated():
    text = (ROOT / "iap_msgs" / "CMakeLists.txt").read_text(encoding="utf-8")
    listed = set(re.findall(r'"((?:msg|srv)/\w+\.\w+)"', text))
    assert listed == {f"{path.parent.name}/{path.name}" for path in MESSAGE_FILES}


def test_what_pip_installs_for_the_core_is_what_the_core_imports():
    pip_name = {"yaml": "pyyaml", "cv2": "opencv-python-headless", "PIL": "pillow"}
    imported = {name for package in PYTHON_PACKAGES for name in imports_of(package)}
    third_party = imported & (set(KEY_OF_IMPORT) | NO_KEY | {"xacro"})
    third_party -= {"mpl_toolkits", "llvmlite"}  # which come along with matplotlib and numba
    assert {pip_name.get(name, name) for name in third_party} <= set(
        pins(REQUIREMENTS / "core.txt")
    )
