# SPDX-License-Identifier: BSD-3-Clause
"""`iap fuzz`: what it takes for a fault, and that damaged input of many kinds has none."""

import json
import os
import resource
import signal
import sys
import time
from pathlib import Path

import pytest

from iap_bringup.cli import fuzz
from iap_bringup.cli import main as cli_main
from iap_bringup.cli.arguments.verbs import VERBS, command_parser
from iap_bringup.cli.main import main
from iap_bringup.fuzz import damage, made_texts
from iap_bringup.fuzz.inputs import KINDS, Case
from iap_bringup.fuzz.kind import CommandLine
from iap_bringup.fuzz.trials import Circumstances, Ending, fault_of, run_command
from iap_description.errors import BadInput
from iap_description.process import interrupts


def refusal(_):
    sys.stderr.write("iap: file: key 'a': no\n")
    return 2


def uncaught(_):
    raise BadInput("nobody catches this")


def killed(_):
    import os
    import signal

    os.kill(os.getpid(), signal.SIGSEGV)


def half_a_folder(arguments):
    Path(arguments[-1]).mkdir()
    (Path(arguments[-1]) / "config.yaml").touch()
    return refusal(arguments)


def hungry(_):
    data = bytearray(3 << 30)
    return len(data) and 0


def silent(_):
    return 0


@pytest.mark.parametrize(
    ("program", "arguments", "fault"),
    [
        (refusal, [], None),
        (silent, [], None),
        (uncaught, [], "exit code 70"),
        (killed, [], "exit code -11"),
        (half_a_folder, ["--out", "o"], "folder left: config.yaml"),
        (hungry, [], "exit code 70"),
        (silent, ["--out", "o"], "no folder"),
    ],
)
def test_what_no_command_may_do_is_a_fault(tmp_path, program, arguments, fault):
    ending = run_command(program, arguments, tmp_path)
    found = fault_of(arguments, ending, tmp_path / "o" if arguments else None)
    assert found == fault if fault is None else found.startswith(fault)


def interruptible(_arguments):
    with interrupts.handled(interrupts.raise_interrupt):
        try:
            time.sleep(20.0)
        except KeyboardInterrupt:
            sys.stderr.write("iap: interrupted\n")
            return 130
    return 0


def half_a_summary(arguments):
    Path("o").mkdir()
    Path("o/summary.json").write_text("{")
    return interruptible(arguments)


@pytest.mark.parametrize(
    ("program", "fault"),
    [(interruptible, None), (half_a_summary, "folder that looks complete: summary.json")],
)
def test_a_signal_ends_a_command_by_its_exit_code_and_one_line(tmp_path, program, fault):
    circumstances = Circumstances(interrupt=(signal.SIGINT, 0.3))
    ending = run_command(program, ["--out", "o"], tmp_path, circumstances)
    assert (ending.code, ending.interrupt) == (130, signal.SIGINT)
    assert fault_of(["--out", "o"], ending, tmp_path / "o") == fault


def test_an_interrupt_that_a_library_turns_into_its_own_error_is_one(monkeypatch, capsys):
    def turned(_):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt as error:
            raise TypeError("incompatible arguments") from error

    monkeypatch.setattr(cli_main, "_run", turned)
    assert main(["list"]) == 130
    assert capsys.readouterr().err == "iap: interrupted\n"


def test_a_command_ends_with_who_waits_for_it(tmp_path):
    number = tmp_path / "number"

    def sleeping(arguments):
        number.write_text(str(os.getpid()))
        time.sleep(60.0)
        return 0

    def give_up(*_):
        if number.exists() and number.read_text():
            signal.setitimer(signal.ITIMER_REAL, 0.0)  # once: another one would disturb the ending
            raise TimeoutError

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
    try:
        with pytest.raises(TimeoutError):
            run_command(sleeping, [], tmp_path)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    with pytest.raises(ProcessLookupError):
        os.kill(int(number.read_text()), 0)


def test_too_few_open_files_are_one_line(tmp_path):
    arguments = ["sweep", "hover", "--duration", "0.03", "--workers", "1", "--out", "o"]
    command_parser(arguments).get_default("run").load()
    ending = run_command(main, arguments, tmp_path, Circumstances(limits={"NOFILE": 8}))
    assert ending.code in (1, 2)  # by how many this process had open
    assert "Too many open files" in ending.err
    assert fault_of(arguments, ending, tmp_path / "o") is None


def test_every_command_is_reached_by_a_kind_of_input():
    assert set().union(*(kind.verbs for kind in KINDS.values())) == set(VERBS)


@pytest.mark.slow
def test_a_few_dozen_damaged_inputs_end_as_they_should(capfd):
    kinds = [each for kind in ("policy", "platform", "sensors") for each in ("--kind", kind)]
    code = main(["fuzz", "--cases", "90", "--seed", "5", "--json", *kinds])
    said, complaint = capfd.readouterr()
    summary = json.loads(said)
    assert code == 0, complaint
    assert summary["seed"] == 5 and summary["faults"] == []
    assert summary["cases"] > 5


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["run", "no_such_scenario", "--json"], 2),
        (["inspect", "x" * 5000, "--json"], 1),
        (["evaluate", "hold", "--episodes", "0", "--json"], 2),
        (["evaluate", "hold", "--seed", str(2**64), "--episodes", "1", "--json"], 2),
        (["run", "hover", "--seed", str(2**64), "--json"], 2),
        (["run", "hover", "--set", "compare={other: [spherical]}", "--json"], 2),
        (["dataset", "docking", "--policy", "script", "--seed", "-1", "--json"], 2),
        (["identify", "nowhere.csv", "--model", "second_order", "--json"], 2),
    ],
)
def test_json_is_promised_for_a_refusal_too(arguments, code, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == code
    said, complaint = capsys.readouterr()
    refused = json.loads(said)
    assert said.count("\n") == 1 and refused["exit_code"] == code
    assert complaint == f"iap: {refused['error']}\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "typed",
    ["list --platform=--", "experiment virpo_units --seconds=--", "run hover --gains=-- --json"],
)
def test_a_value_of_dashes_is_none(typed, capsys):
    assert main(typed.split()) == 2
    complaint = capsys.readouterr().err
    assert complaint.count("\n") == 1 and "expected a value" in complaint


def test_a_misused_command_line_has_json_too(capsys):
    assert main(["run", "hover", "--speed", "3", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["exit_code"] == 2


def test_a_word_behind_two_dashes_is_no_option(capsys):
    assert main(["evaluate", "--", "hold", "more", "--json"]) == 2
    assert capsys.readouterr().out == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate", "docking", "--episodes", "2", "--no-record"],
        ["sweep", "hover", "--engine", "closed_form", "--duration", "0.03", "--workers", "1"],
        ["run", "module_hover", "--duration", "0.1"],
    ],
)
def test_a_full_disk_is_one_line_and_leaves_no_folder_that_looks_complete(arguments, tmp_path):
    def on_a_full_disk(typed):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        sys.dont_write_bytecode = True  # Python would leave cut files among its own
        resource.setrlimit(resource.RLIMIT_FSIZE, (256, 256))
        return main(typed)

    ending = run_command(on_a_full_disk, [*arguments, "--out", "o", "--no-plot"], tmp_path)
    assert ending.code == 1
    refusal = ending.err.splitlines()
    assert len(refusal) == 1 and refusal[0].startswith("iap: ")
    assert "File too large" in refusal[0]
    left = {each.name for each in (tmp_path / "o").rglob("*")}
    assert not left & {"metrics.json", "evaluation.json", "summary.json"}
    assert not any(".part" in each for each in left)


def test_logs_that_are_made_have_commands_and_what_followed_them(tmp_path):
    made_texts._write_logs(tmp_path, 1)
    names, *rows = (tmp_path / "log_1.csv").read_text().splitlines()
    channels = made_texts.CHANNELS[: made_texts.COLUMNS]
    assert names.split(",") == ["t", *(f"{each}_ref" for each in channels), *channels]
    assert {len(row.split(",")) for row in rows} == {1 + 2 * len(channels)}


def test_every_key_has_its_path_however_deep():
    tree = {"a": {"b": [1, {"c": 2}]}, "d": 3}
    assert damage.paths(tree) == ["a", "a.b", "a.b.0", "a.b.1", "a.b.1.c", "d"]


def test_an_interrupt_leaves_the_summary_of_the_cases_until_then(monkeypatch, capsys):
    sound = fuzz._tried
    tried = []

    def interrupted_at_the_third(*of_case):
        tried.append(of_case)
        if len(tried) == 3:
            raise KeyboardInterrupt
        return sound(*of_case)

    monkeypatch.setattr(fuzz, "_tried", interrupted_at_the_third)
    code = main(["fuzz", "--cases", "5", "--seed", "1", "--kind", "gains", "--json"])
    summary = json.loads(capsys.readouterr().out)
    assert code == 130
    assert summary["seed"] == 1
    assert summary["cases"] == sum(summary["counts"].values()) <= 2


@pytest.fixture
def every_case_has_a_fault(monkeypatch):
    def made(kind, _, home, rng):
        (home / "tree.yaml").write_text(kind)
        os.mkfifo(home / "pipe")
        return Case(kind, CommandLine(["run", f"{rng.random()}"]), None)

    monkeypatch.setattr(fuzz, "make_case", made)
    monkeypatch.setattr(fuzz, "run_command", lambda *_: Ending(70, "", "", 0.126, False))
    monkeypatch.setattr(fuzz, "_import_commands", lambda: None)


def test_a_fault_ends_with_exit_code_1_and_can_be_made_again_by_its_number(
    every_case_has_a_fault, capsys, tmp_path
):
    seeded = ["fuzz", "--seed", "3", "--kind", "policy"]
    assert main([*seeded, "--cases", "60", "--json", "--keep", str(tmp_path)]) == 1
    said, complaints = capsys.readouterr()
    summary, lines = json.loads(said), [json.loads(line) for line in complaints.splitlines()]
    assert lines == summary["faults"] and 1 < len(lines) == summary["cases"] < 60
    assert summary["counts"] == {"policy, exit code 70": len(lines)}
    assert {(each["seed"], each["seconds"], each["fault"]) for each in lines} == {
        (3, 0.13, "exit code 70: ")
    }
    kept = {each.relative_to(tmp_path).as_posix() for each in tmp_path.rglob("*.*")}
    assert kept == {f"{number}/tree.yaml" for number in range(len(lines))}
    assert not list(tmp_path.rglob("pipe"))
    last = lines[-1]
    assert main([*seeded, "--only", str(last["case"])]) == 1
    said, complaints = capsys.readouterr()
    assert json.loads(complaints) == last
    assert said == "     1 policy, exit code 70\n1 faults in 1 cases of seed 3\n"


def test_cases_without_a_fault_end_with_exit_code_0(every_case_has_a_fault, monkeypatch, capsys):
    monkeypatch.setattr(fuzz, "run_command", lambda *_: Ending(0, "", "", 0.1, False))
    assert main(["fuzz", "--seed", "3", "--cases", "4"]) == 0
    assert capsys.readouterr().out.endswith("\n0 faults in 4 cases of seed 3\n")


def test_an_unknown_kind_of_input_is_refused_by_name(capsys):
    assert main(["fuzz", "--kind", "gain"]) == 2
    assert capsys.readouterr().err == "iap: --kind gain: did you mean gains?\n"
