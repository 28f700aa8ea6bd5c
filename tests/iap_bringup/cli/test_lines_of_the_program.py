# SPDX-License-Identifier: BSD-3-Clause
"""Refusals, completions, findings of the doctor and lists, to the letter."""

import io
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from iap_bringup.cli import (
    completion,
    doctor,
    listing,
    machine,
)
from iap_bringup.cli.arguments.parser import CommandParser, Need, _unquoted
from iap_bringup.cli.completion import Words
from iap_description.errors import BadInput


def a_parser(prog="iap fly"):
    """A parser of a few options."""
    parser = CommandParser(prog=prog)
    parser.add_argument("--count", type=int, default=3)
    parser.add_argument("--rate", type=float)
    parser.add_argument("--path", type=lambda text: Path(text).relative_to("/x"))
    parser.add_argument("--kind", choices=("bag", "table"))
    return parser


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["--count", "x"], "fly: argument --count: a whole number is expected, found 'x'"),
        (["--rate", "x"], "fly: argument --rate: a number is expected, found 'x'"),
        (["--kind", "tabel"], "fly: argument --kind: unknown 'tabel': did you mean table?"),
        (["--knd"], "fly: unknown argument '--knd': did you mean --kind?"),
        (["word"], "fly: unknown argument 'word'"),
        (["[1,", "2]"], "fly: unknown argument '[1,': quote a value with spaces, such as --set 'KEY=[1, 2]'"),
        (["--view"], "fly: unknown argument '--view': an option of run"),
    ],
)  # fmt: skip
def test_what_is_mistyped_is_said_with_what_was_meant(typed, said):
    parser = a_parser()
    parser.commands_with = lambda option: ["run"] if option == "--view" else []
    with pytest.raises(BadInput) as error:
        parser.parse_args(typed)
    assert str(error.value) == said


def test_help_is_named_where_something_is_missing_and_by_the_program_alone():
    parser = a_parser()
    parser.add_argument("file")
    with pytest.raises(
        BadInput, match=r"^fly: .*arguments are required: file \(see iap fly --help\)$"
    ):
        parser.parse_args([])
    with pytest.raises(BadInput, match=r"^fly: why$"):
        parser.error("why")
    with pytest.raises(BadInput, match=r"^why \(see iap --help\)$"):
        a_parser("iap").error("why")


def test_an_option_that_needs_another_acts_on_nothing_without_it():
    parser = a_parser()
    parser.needs.append(Need(("count",), "--rate", lambda options: options.rate is not None))
    assert parser.parse_args(["--count", "4", "--rate", "1"]).count == 4
    assert parser.parse_args(["--count", "3"]).count == 3  # as without it
    with pytest.raises(BadInput, match=r"^fly: --count: acts on nothing without --rate$"):
        parser.parse_args(["--count", "4"])


def test_a_value_is_cut_where_a_bracket_stays_open():
    assert "quote a value" in _unquoted(["a=[1,", "2]"])
    for closed in (["a=[1]"], ["a=1]"], []):
        assert _unquoted(closed) == ""


WORDS = [
    Words("run", ["hover", "spiral"], {"--gains": "it's a\\b", "--out": "o", "--json": "j"},
          {"--gains": ["soft", "paper"], "--out": []}),
    Words("plot", [], {"--set": "keys"}, {"--set": ["a=", "b="]}),
]  # fmt: skip


def test_bash_has_a_case_for_each_option_that_takes_a_word():
    lines = completion.bash_script(WORDS).splitlines()
    assert '        "run --out") return ;;' in lines
    assert "        run) words='hover spiral --gains --out --json' ;;" in lines
    reply = "COMPREPLY=($(compgen -W '{}' -- \"$word\")); return ;;"
    assert f'        "run --gains") {reply.format("soft paper")}' in lines
    assert (
        f'        "plot --set") compopt -o nospace 2>/dev/null; {reply.format("a= b=")}' in lines
    )
    assert not any("--json)" in line or '--json")' in line for line in lines)


def test_fish_has_a_line_for_each_word_with_its_text_in_quotes():
    lines = completion.fish_script(WORDS).splitlines()
    where = "complete -c iap -n '__fish_seen_subcommand_from run'"
    assert f"{where} -a 'hover spiral'" in lines
    assert f"{where} -l gains -x -a 'soft paper' -d 'it\\'s a\\\\b'" in lines
    assert f"{where} -l out -r -d 'o'" in lines and f"{where} -l json -d 'j'" in lines
    assert sum("_from plot' -a" in line for line in lines) == 0


def test_the_doctor_says_which_package_is_there_and_the_remedy_below_the_last_missing(monkeypatch):
    monkeypatch.setattr(doctor, "find_spec", lambda name: None if name in "bc" else True)
    monkeypatch.setattr(doctor, "installed_version", lambda name: {"A": "1.2"}.get(name, ""))
    extra = SimpleNamespace(remedy="pip install x")
    pairs = (("A", "a"), ("B", "b"), ("C", "c"), ("D", "d"))
    found = doctor._packages("g", extra, pairs)
    assert [(each.name, each.state, each.is_there, each.remedy) for each in found] == [
        ("A", "1.2", True, ""), ("B", "not installed", False, ""),
        ("C", "not installed", False, "pip install x"), ("D", "there, version unknown", True, ""),
    ]  # fmt: skip
    monkeypatch.setattr(doctor, "CORE", (("A", "a"), ("B", "b")))
    for checkout, remedy in (
        ("/x", "./iap list"),
        (None, f"{sys.executable} -m pip install iap-suite"),
    ):
        monkeypatch.setattr(doctor, "CHECKOUT", checkout)
        assert [each.remedy for each in doctor._core()] == ["", remedy]
        words = doctor._suite()[0]
        assert words.is_there and words.state.endswith(
            "wheels" if checkout is None else "checkout /x"
        )


def test_the_doctor_names_a_driver_and_the_remedy_of_ros_at_the_end(monkeypatch):
    for driver in ("550.1", ""):
        monkeypatch.setattr(doctor, "cuda_driver", lambda driver=driver: driver)
        (found,) = doctor._gpu()
        assert (found.state, found.is_there) == (driver or "none", bool(driver))
    monkeypatch.setattr(doctor, "ros_underlay", lambda: "wheels")
    monkeypatch.delenv("ROS_DISTRO", raising=False)
    use = {"a_b": ("", "no a"), "c": ("", "no c")}
    monkeypatch.setattr(doctor, "ros_packages", lambda: use)
    assert [each.remedy for each in doctor._ros()] == ["", "", doctor.WITH_ROS]
    monkeypatch.setenv("ROS_DISTRO", "jazzy")
    assert [each.remedy for each in doctor._ros()] == [
        "", "apt-get install ros-jazzy-a-b", "apt-get install ros-jazzy-c",
    ]  # fmt: skip


def test_the_machine_names_its_environment_compiler_and_processors(monkeypatch):
    monkeypatch.delenv("CONDA_PREFIX", raising=False)
    monkeypatch.setattr(machine, "sys", SimpleNamespace(prefix="/a", base_prefix="/b"))
    assert machine.environment() == "venv, /a"
    monkeypatch.setattr(machine, "sys", SimpleNamespace(prefix="/a", base_prefix="/a"))
    assert machine.environment() == "the system's, /a"
    monkeypatch.setenv("CXX", "sh")
    assert machine.compiler().endswith("/sh")
    monkeypatch.setenv("CXX", "no_such_compiler")
    assert machine.compiler() == ""
    asked = []
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: asked.append(pid) or {1, 2, 5})
    assert machine.processors().startswith("3, ") and asked == [0]


def test_a_working_context_of_opengl_is_given_back(monkeypatch):
    released = []
    context = SimpleNamespace(info={"GL_RENDERER": "llvm"}, release=lambda: released.append(1))
    made = SimpleNamespace(create_standalone_context=lambda **_: context)
    monkeypatch.setitem(sys.modules, "moderngl", made)
    monkeypatch.setattr(machine, "find_spec", lambda name: name)
    assert machine.graphics() == ("llvm", True) and released == [1]
    made.create_standalone_context = lambda **_: 1 / 0
    assert machine.graphics() == ("does not work: division by zero", False)


def test_lists_are_names_with_texts_or_names_alone_and_end_with_a_note():
    def shown(kind):
        console = Console(
            file=io.StringIO(),
            width=60,
            force_terminal=True,
            color_system="standard",
            markup=False,
        )
        listing._show(console, "gains", kind)
        return console.file.getvalue()

    with_texts = listing.NameKind(lambda: [("soft", "low 12"), ("paper", "")], "iap run 7")
    assert shown(with_texts).splitlines()[1:3] == ["  soft   low 12  ", "  paper          "]
    assert shown(with_texts).endswith("\n\n") and "\x1b[1;36m" not in shown(with_texts)
    alone = listing.NameKind(lambda: [("a1", ""), ("b2", "")], "use", "[note] 12")
    assert shown(alone).splitlines()[1:] == ["  a1, b2", "  [note] 12", ""]


def test_a_preset_s_text_is_the_first_sentence_of_its_comment(tmp_path):
    texts = {"a": "# First one. Second.\n# more\n", "b": "x: 1\n", "c": "#Alone.\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    presets = SimpleNamespace(names=lambda: list(texts), file=lambda name: tmp_path / name)
    assert listing._commented(presets) == [("a", "First one"), ("b", ""), ("c", "Alone")]
    assert all(text.endswith(".") or text for name, text in listing._experiments())
    where = dict(listing._methods())
    assert where["vio"] == "in flight and of recordings"
    assert (where["batch"], where["capture_inertial"]) == ("of recordings", "in flight")
