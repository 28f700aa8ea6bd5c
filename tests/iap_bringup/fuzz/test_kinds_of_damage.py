# SPDX-License-Identifier: BSD-3-Clause
"""Cases of every kind are drawn by their shares, with one damaged file or value and the circumstances of their kind."""

import argparse
import shutil
import signal
from collections import Counter
from pathlib import Path
from random import Random

import numpy as np
import pytest

from iap_bringup.cli.arguments.verbs import command_parser
from iap_bringup.fuzz import circumstance_kinds, corpus, kind, option_kind, setting_kind
from iap_bringup.fuzz.corpus import MAKING, Corpus
from iap_bringup.fuzz.damage import yaml_bytes
from iap_bringup.fuzz.inputs import KINDS, OUT, drawn_kind, make_case
from iap_bringup.fuzz.kind import FileKind

TREE = {"a": {"b": 1.5, "c": [1, 2]}, "d": "word"}


class MadeUp(Corpus):
    """Sound files of any name, each with its own text; what is loaded is noted."""

    def __init__(self, home):
        self.home, self.loaded, self.parser_of = home, [], command_parser
        self.calls = []

    def __getitem__(self, pattern):
        name = pattern.replace("*", "x").replace("[fht]", "h")
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            if name.endswith(("npz", "mat")):
                np.savez(
                    path.with_suffix(".npz"), mean=np.ones(3), t=np.ones((2, 2)), scale=np.ones(2)
                )
                path.with_suffix(".npz").rename(path)
            elif "." in name:
                path.write_bytes(yaml_bytes({**TREE, "name": name}))
            else:
                path.mkdir()
                for each in (
                    "config.yaml",
                    "metrics.json",
                    "table.csv",
                    "bag_0.mcap",
                    "modules.npz",
                    "sky.hdr",
                    "post.obj",
                ):
                    (path / each).write_text("{}" if each.endswith("json") else f"text: {each}\n")
        return [path]

    def load(self, arguments, inputs):
        self.loaded.append((list(arguments), [each.name for each in inputs]))


@pytest.fixture
def made(tmp_path):
    """A corpus of made-up files, and an empty folder for a case."""
    (tmp_path / "corpus").mkdir()

    def home(name="case"):
        shutil.rmtree(tmp_path / name, ignore_errors=True)
        (tmp_path / name).mkdir()
        return tmp_path / name

    return MadeUp(tmp_path / "corpus"), home


def test_kinds_are_drawn_by_their_shares():
    drawn = Counter(drawn_kind(Random(seed)) for seed in range(6000))
    total = sum(each.share for each in KINDS.values())
    assert set(drawn) == set(KINDS)
    for name, each in KINDS.items():
        expected = 6000 * each.share / total
        assert abs(drawn[name] - expected) < 5.0 * expected**0.5 + 1, name


def test_one_file_of_a_folder_is_damaged_and_all_others_are_copies(made, monkeypatch):
    source, home = made
    damaged = []
    monkeypatch.setattr(kind, "damage", lambda file, rng: damaged.append(file))
    folder = FileKind(
        1,
        ("run",),
        (("plot", "@", "overview"), ("replay", "@/bag", "x@y")),
        ("log_1.csv",),
        ("yaml", "csv"),
    )
    commands = set()
    for seed in range(20):
        where = home()
        command = folder.draw(source, where, Random(seed))
        commands.add(tuple(command.arguments))
        assert sorted(each.name for each in where.iterdir()) == ["log_1.csv", "run"]
        assert (where / "run" / "metrics.json").read_text() == "{}"
    assert commands == {("plot", "run", "overview"), ("replay", "run/bag", "xruny")}
    assert {each.name for each in damaged} == {"config.yaml", "table.csv"}
    assert source.loaded[0][1] == ["log_1.csv", "run"] and folder.verbs == {"plot", "replay"}
    loaded = len(source.loaded)
    folder._replace(in_a_fork=True).draw(source, home(), Random(1))
    assert len(source.loaded) == loaded


@pytest.mark.parametrize(
    "name", [name for name, each in KINDS.items() if isinstance(each, FileKind)]
)
def test_a_case_of_files_names_its_damaged_copy_and_the_folder_that_it_makes(name, made):
    source, home = made
    for seed in range(3):
        where = home()
        case = make_case(name, source, where, Random(seed))
        verb, *words = case.command.arguments
        assert verb in KINDS[name].verbs and "@" not in "".join(words) and case.kind == name
        names = [each.name for each in where.iterdir()]
        assert any(each in " ".join(words) for each in names) or name == "mesh" or not names
        makes = verb in MAKING and not any(
            word.startswith(("--out", "--resume")) for word in words[:-2]
        )
        assert (case.out == where / OUT) == (case.out is not None)
        assert (case.out is not None) == (words[-2:] == ["--out", "o"] and makes)
        assert case.command.circumstances == kind.UNDISTURBED


def test_one_or_two_keys_of_a_scenario_get_other_values(made):
    source, home = made
    counts, values = Counter(), set()
    for seed in range(200):
        command = setting_kind.SettingKind().draw(source, home(), Random(seed))
        verb, name, *words = command.arguments
        assert verb == "run" and name in setting_kind.SETTABLE
        flags = words[len(kind.FLIGHT) :]
        assert set(flags[::2]) == {"--set"}
        counts[len(flags) // 2] += 1
        for each in flags[1::2]:
            key, _, value = each.partition("=")
            assert key in {"a", "a.b", "a.c", "a.c.0", "a.c.1", "d", "name"} and "\0" not in value
            values.add(value)
    assert set(counts) == {1, 2} and 60 < counts[1] < 140 and len(values) > 80
    assert setting_kind._value_at({"a": [{"b": 5}]}, "a.0.b") == 5


def test_every_command_that_takes_keys_gets_other_values(made):
    source, home = made
    verbs, keys = Counter(), set()
    for seed in range(150):
        where = home()
        command = setting_kind.OtherSettingKind().draw(source, where, Random(seed))
        verbs[command.arguments[0]] += 1
        assert "--set" in command.arguments[-4:]
        keys.add(command.arguments[-1].partition("=")[0])
    assert set(verbs) == {"replay", "sweep", "localize", "identify", "train", "dataset"}
    assert verbs["train"] < 0.5 * verbs["replay"] and len(keys) > 80
    assert not any(each[0][0] == "sweep" for each in source.loaded)


def test_options_of_every_command_get_other_values_and_places_that_are_no_files(made):
    source, home = made
    verbs, changed = Counter(), Counter()
    for seed in range(150):
        where = home()
        command = option_kind.OptionKind().draw(source, where, Random(seed))
        verbs[command.arguments[0]] += 1
        sound = [
            list(each) for each in option_kind.SOUND.values() if each[0] == command.arguments[0]
        ]
        changed[command.arguments not in sound] += 1
        assert set(option_kind.PLACES) - {"none", "circle", "zeros", "above"} <= {
            each.name for each in where.iterdir()
        }
        assert (where / "circle").is_symlink() and not (where / "none").exists()
    assert len(verbs) > 0.9 * len({each[0] for each in option_kind.SOUND.values()})
    assert changed[True] > 0.8 * 150


def test_an_option_takes_as_many_words_as_it_has_and_places_are_replaced():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--offset", nargs=3)
    for seed in range(30):
        arguments = ["replay", "file"]
        option_kind._change(arguments, parser, Random(seed))
        assert arguments[2] == "--offset" and len(arguments) == 6 and len(set(arguments[3:])) == 1
    single = argparse.ArgumentParser(add_help=False)
    single.add_argument("--steps")
    words = set()
    for seed in range(200):
        arguments = ["train", "task"]
        option_kind._change(arguments, single, Random(seed))
        flag, _, word = arguments[2].partition("=")
        assert flag == "--steps" and len(arguments) == 3
        words.add(word)
    assert not {"20000000", "1e9"} & words and {"nan", "hover", "pipe"} <= words
    place = argparse.ArgumentParser(add_help=False)
    place.add_argument("file", choices=("x", "y"))
    seen = set()
    for seed in range(300):
        arguments = ["inspect", "log", "--json"]
        option_kind._change(arguments, place, Random(seed))
        assert arguments[0] == "inspect" and arguments[2:] == ["--json"]
        seen.add(arguments[1])
    assert {"x", "y"} <= seen
    kept = ["bench", "all"]
    named = argparse.ArgumentParser(add_help=False)
    named.add_argument("name")
    option_kind._change(kept, named, Random(1))
    assert kept == ["bench", "all"]


def test_signals_come_early_more_often_than_late_and_limits_are_of_files(made):
    source, home = made
    signals, limits = [], []
    for seed in range(200):
        command = circumstance_kinds.InterruptKind().draw(source, home(), Random(seed))
        signals.append(command.circumstances.interrupt)
        assert command.circumstances.limits is None and command.circumstances.environment is None
        limited = circumstance_kinds.LimitKind().draw(source, home(), Random(seed))
        assert limited.arguments[0] != "train" and limited.circumstances.interrupt is None
        limits.append(limited.circumstances.limits)
    assert {number for number, _ in signals} == {signal.SIGINT, signal.SIGTERM}
    after = [each for _, each in signals]
    assert all(0.0 <= each <= 6.0 for each in after) and max(after) > 4.5
    assert sum(each < 1.5 for each in after) > 0.4 * len(after)
    sizes = {(name, value) for each in limits for name, value in each.items()}
    assert sizes == {
        *(("FSIZE", n) for n in circumstance_kinds.SIZES),
        *(("NOFILE", n) for n in circumstance_kinds.OPEN_FILES),
    }
    assert not any(each[0][0] in circumstance_kinds.WITH_PROCESSES for each in source.loaded)


def test_one_or_two_variables_of_the_environment_are_odd(made, monkeypatch):
    source, home = made
    monkeypatch.setattr(circumstance_kinds, "os", argparse.Namespace(environ={"KEPT": "1"}))
    names = Counter()
    for seed in range(300):
        command = circumstance_kinds.EnvironmentKind().draw(source, home(), Random(seed))
        environment = command.circumstances.environment
        assert environment["KEPT"] == "1" and 2 <= len(environment) <= 3
        names.update(set(environment) - {"KEPT"})
        assert environment.get("PYTHONIOENCODING", "ascii") in ("utf-8", "ascii", "latin-1")
        assert tuple(command.arguments) in circumstance_kinds.COMMANDS
        if "NUMBA_CACHE_DIR" in set(environment) - {"KEPT"}:  # where all kernels are compiled anew
            assert command.arguments[0] in {"list", "urdf"}
    assert set(names) == set(circumstance_kinds.VARIABLES)


def test_sound_input_is_made_once_by_its_command_and_loaded_once(tmp_path, monkeypatch):
    calls, where = [], []

    def main(arguments):
        calls.append(list(arguments))
        where.append((Path.cwd(), sorted(each.name for each in Path.cwd().iterdir())))
        if "--out" in arguments and arguments[-1].startswith("/"):
            Path(arguments[-1]).mkdir()
        return 0

    sound = Corpus(main, command_parser, tmp_path)
    assert [each.name for each in sound["run"]] == ["run"] and len(sound["run"]) == 1
    assert (
        len(calls) == 1
        and calls[0][:2] == ["run", "hover"]
        and calls[0][-1] == str(tmp_path / "run")
    )
    (tmp_path / "log.csv").write_text("t\n")
    sound.load(["identify", "log.csv"], [tmp_path / "log.csv"])
    sound.load(["identify", "log.csv"], [tmp_path / "log.csv"])
    assert calls[1:] == [["identify", "log.csv", "--out", "o"]] and where[1][1] == ["log.csv"]
    assert where[1][0] != tmp_path and not where[1][0].exists()
    sound.load(["inspect", "log.csv"], [])
    assert calls[-1] == ["inspect", "log.csv"]
    for verb in corpus.IN_A_FORK:
        sound.load([verb, "x"], [])
    assert calls[-1] == ["inspect", "log.csv"]
    folder = tmp_path / "copies"
    folder.mkdir()
    assert Corpus.copied(tmp_path / "log.csv", folder).read_text() == "t\n"
    assert Corpus.copied(tmp_path / "run", folder).is_dir()
    interrupted = Corpus(lambda _: 130, command_parser, tmp_path)
    with pytest.raises(KeyboardInterrupt):
        interrupted.load(["inspect", "x"], [])
    Corpus(lambda _: 2, command_parser, tmp_path).load(["inspect", "x"], [])
    with pytest.raises(corpus.IapError, match="iap run hover"):
        _ = Corpus(lambda _: 2, command_parser, tmp_path / "other")["run"]


def test_a_sweep_records_no_flights_and_a_data_set_does(tmp_path, monkeypatch):
    flown = []
    monkeypatch.setattr(corpus, "_fly_all", lambda out, records: flown.append((out.name, records)))
    corpus._make_sweep(tmp_path)
    corpus._make_dataset(tmp_path)
    assert flown == [("sweep", False), ("dataset", True)]
