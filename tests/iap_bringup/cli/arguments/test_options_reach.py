# SPDX-License-Identifier: BSD-3-Clause
"""Every option of every command sets its own value alone, and its default is what its help says."""

import argparse
import ast
import re
from pathlib import Path

import pytest

from iap_bringup import cli
from iap_bringup.cli.arguments.options import POSE_OPTIONS
from iap_bringup.cli.arguments.pictures import picture_size
from iap_bringup.cli.arguments.verbs import VERBS, command_parser
from iap_bringup.cli.main import parse
from iap_bringup.cli.options import check_counts, check_exists, pose_keys, scenario_options
from iap_description.errors import BadInput

SOUND = {  # the shortest sound command line of each command
    "run": ["hover"], "replay": ["flight.bag"], "sweep": ["hover"], "dataset": ["hover"], "cluster": [],
    "evaluate": ["hold"], "train": ["docking"], "inspect": ["log.bin"], "localize": ["folder"],
    "identify": ["log.csv", "--model", "dynamic"],
    "list": [], "doctor": [], "completion": ["bash"], "import": ["quad.urdf"], "urdf": ["f450"], "view": ["run"],
    "plot": ["run"], "render": ["run"], "experiment": ["engines"], "fuzz": [], "bench": [],
}  # fmt: skip
OPTIONS = [
    (name, each.option_strings[-1])
    for name, words in SOUND.items()
    for each in command_parser([name, *words])._actions
    if each.option_strings and each.dest != "help"
]
FLIGHT = "duration engine gains platform scene seed sensors set state-source"
PAGES, REPORT = "allow-control host no-browser port", "json no-plot out"
FLAGS = {  # which scripts of users type
    "run": f"{FLIGHT} {PAGES} {REPORT} no-view realtime view",
    "replay": f"{FLIGHT} {PAGES} {REPORT} no-view realtime view actual-topic actual-wrench-topic angles body bridge"
    " clock columns convention frame from max-speed mounting offset origin quaternion rate scale smooth time-unit to"
    " topic wrench-frame wrench-topic wrench-use",
    "sweep": f"{FLIGHT} {REPORT} cluster seeds vary workers",
    "dataset": f"{FLIGHT} {REPORT} cluster count vary workers",
    "dataset --policy script": "episodes json out policy preset seed set threads",
    "cluster": "port",
    "evaluate": f"{PAGES} {REPORT} engine episodes export no-record preset realtime seed task threads video view",
    "train": "offline online out preset resume seed set steps",
    "inspect": "json",
    "localize": f"{PAGES} {REPORT} accel-scale body calibration frame from frontend gyro-scale image-delay imu left map"
    " method preset right set truth vehicle view",
    "identify": f"{REPORT} error fit force model set validate",
    "list": "json platform",
    "doctor": "json",
    "completion": "",
    "import": "arg density force make-physical max-thrust out rotor rpm-max scale spins torque-ratio",
    "urdf": "target",
    "view": "beside host no-browser port",
    "plot": "html list",
    "render": "fixed follow from out plot rate renderer scene sensors set size speed spp time to video workers",
    "experiment": "flights json out quick scenarios seconds since",
    "fuzz": "cases json keep kind only seed",
    "bench": "device json verbose",
}
VALUES = {  # of options that take no word
    "--scale": ("2.5", 2.5),
    "--vary": ("a=1", "a=1"),
    "--size": ("640x480", (640, 480)),
    "--scenarios": ("hover", ("hover",)),
}
DEFAULT = re.compile(r"\(default: ([^()]*)\)")
DIGITS = re.compile(r"-?[\d.]+")


def action_of(name, flag):
    """The action of an option."""
    parser = command_parser([name, *SOUND[name]])
    return next(each for each in parser._actions if flag in each.option_strings)


def words_of(action):
    """An option with a value that is not its default, and that value."""
    flag = action.option_strings[-1]
    if action.nargs == 0:
        return [flag], None
    others = [each for each in action.choices or () if each != action.default]
    kind = action.type
    if others:
        text, value = str(others[-1]), others[-1]
    elif kind is int:
        text, value = "7", 7
    elif kind is float:
        text, value = "0.75", 0.75
    elif kind is Path:
        text, value = "a/place", Path("a/place")
    else:
        text, value = VALUES.get(flag, ("words", "words"))
    count = action.nargs if isinstance(action.nargs, int) else 1
    if isinstance(action.nargs, int) or action.nargs == "+":
        value = [value] * count
    if isinstance(action, argparse._AppendAction):
        value = [value]
    return [flag, *[text] * count], value


def test_every_command_has_a_sound_command_line():
    assert set(SOUND) == set(VERBS)


@pytest.mark.parametrize("typed", FLAGS)
def test_no_option_of_a_command_goes_away(typed):
    name, *policy = typed.split()
    actions = command_parser([name, *(policy or SOUND[name])])._actions
    flags = {each.option_strings[-1] for each in actions if each.option_strings}
    assert {f"--{each}" for each in FLAGS[typed].split()} <= flags


@pytest.mark.parametrize(
    ("name", "flag"), OPTIONS, ids=[f"{name} {flag}" for name, flag in OPTIONS]
)
def test_an_option_sets_its_own_value_alone(name, flag):
    action = action_of(name, flag)
    typed = [name, *SOUND[name]]
    needs = command_parser(typed).needs
    typed += [word for each in needs if action.dest in each.options for word in each.other.split()]
    before = vars(parse(typed))
    words, value = words_of(action)
    after = vars(parse([*typed, *words]))
    changed = {key for key in after if after[key] != before.get(key) and key != "run"}
    if value is None:
        is_default = before.get(action.dest) == action.const
        assert after[action.dest] == action.const and changed == (
            set() if is_default else {action.dest}
        )
    else:
        assert after[action.dest] == value and changed == {action.dest}
    assert after["run"] == before["run"]


@pytest.mark.parametrize(
    ("name", "flag"), OPTIONS, ids=[f"{name} {flag}" for name, flag in OPTIONS]
)
def test_a_number_that_the_help_calls_the_default_is_it(name, flag):
    action = action_of(name, flag)
    said = DEFAULT.search(action.help or "")
    if (
        said is None
        or not isinstance(action.default, int | float)
        or isinstance(action.default, bool)
    ):
        return
    numbers = DIGITS.findall(said[1])
    assert not numbers or float(numbers[0]) == action.default


def test_keys_of_a_recording_are_those_that_were_typed():
    parser = command_parser(["replay"])
    plain = parser.parse_args(["bag"])
    assert pose_keys(plain) == {}
    for option in POSE_OPTIONS:
        words, value = words_of(
            next(each for each in parser._actions if option.flag in each.option_strings)
        )
        assert pose_keys(parser.parse_args(["bag", *words])) == {option.key: value}
    assert parser.parse_args(["bag", "--scale", "1,2,3"]).scale == (1.0, 2.0, 3.0)
    with pytest.raises(BadInput, match="--scale"):
        parser.parse_args(["bag", "--scale", "1,2"])


def test_options_of_a_scenario_are_handed_on_under_their_names():
    words = [
        "--platform",
        "f450",
        "--seed",
        "5",
        "--duration",
        "2.5",
        "--set",
        "wind.speed=3",
        "--set",
        "a=1",
    ]
    options = scenario_options(parse(["run", "hover", *words]))
    assert (options.platform, options.seed, options.duration) == ("f450", 5, 2.5)
    assert options.assignments == ("wind.speed=3", "a=1")
    empty = scenario_options(parse(["run", "hover"]))
    assert empty.duration is None and empty.assignments == ()
    for wrong in ("0", "-1", "nan"):
        with pytest.raises(BadInput, match="--duration .* must be above 0"):
            scenario_options(parse(["run", "hover", f"--duration={wrong}"]))


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("episodes", 0, "at least 1"), ("episodes", 1, ""), ("seed", 0, ""), ("seed", -1, "at least 0"),
        ("threads", 0, "at least 1"), ("threads", 10**9, "at most"), ("cases", 0, "at least 1"),
        ("seed", 2**70, "at most"),
    ],
)  # fmt: skip
def test_counts_have_least_and_most_values(name, value, said):
    options = argparse.Namespace(**{name: value})
    if not said:
        check_counts(options, name)
        return
    with pytest.raises(BadInput, match=f"--{name} {value}: {said}"):
        check_counts(options, name)


def test_folders_that_are_not_there_are_named(tmp_path):
    check_exists(tmp_path)
    with pytest.raises(BadInput, match="nowhere: no such folder"):
        check_exists(tmp_path, tmp_path / "nowhere")


def read_by(module, seen=()):
    """Names of options that a module of the command line reads, with those that it hands them to."""
    tree = ast.parse((Path(cli.__file__).parent / f"{module}.py").read_text())
    names = {
        each.attr
        for each in ast.walk(tree)
        if isinstance(each, ast.Attribute)
        and isinstance(each.value, ast.Name)
        and each.value.id == "options"
    }
    for each in ast.walk(tree):
        name = each.module if isinstance(each, ast.ImportFrom) else None
        below = (name or "").removeprefix("iap_bringup.cli.")
        if below in ("live_pages", "view") and below not in (*seen, module):
            names |= read_by(below, (*seen, module)) - {"folders", "beside"}
    return names


@pytest.mark.parametrize("name", sorted(SOUND))
def test_what_a_command_reads_of_its_options_is_there(name):
    later = command_parser([name, *SOUND[name]]).get_default("run")
    alike = [
        each
        for each in SOUND
        if command_parser([each, *SOUND[each]]).get_default("run").module == later.module
    ]
    there = set().union(*(vars(parse([each, *SOUND[each]])) for each in alike))
    if later.module not in ("sweep", "studies"):
        assert read_by(later.module) <= there | {"model_fields", "model_dump", "and_set", "run"}


@pytest.mark.parametrize("size", [(64, 64), (3840, 2160), (960, 540)])
def test_a_picture_has_an_even_size_within_bounds(size):
    width, height = size
    assert picture_size(f"{width}x{height}") == picture_size(f"{width}X{height}") == size
    for wrong in (f"{width + 1}x{height}", f"{width}x{height + 1}", "62x64", "64x62", "3842x64"):
        with pytest.raises(argparse.ArgumentTypeError, match="even, 64x64 to 3840x2160"):
            picture_size(wrong)
    for wrong in ("960", "960x540x2", "-64x64", "ax64", "640x"):
        with pytest.raises(argparse.ArgumentTypeError, match="is not WIDTHxHEIGHT"):
            picture_size(wrong)
