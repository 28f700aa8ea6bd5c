# SPDX-License-Identifier: BSD-3-Clause
"""The command ``iap completion``: a shell script with all words, so that completing starts no Python."""

import argparse
import shlex
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from iap_bringup.cli.arguments.verbs import VERBS, command_parser
from iap_bringup.cli.listing import KINDS

LISTED = "kinds"  # names of the kinds themselves
OF_OPTIONS = {  # option, or verb and option -> kind of the names that it takes
    "--platform": "platforms",
    "--gains": "gains",
    "--engine": "engines",
    "--sensors": "sensors",
    "--scene": "scenes",
    "--state-source": "methods",
    "--method": "methods",
    "--frontend": "frontends",
    "--task": "tasks",
    "--policy": "policies",
    "--plot": "plots",
    "localize --preset": "presets",
}
OF_VERBS = {  # verb -> kinds of the names that it takes without an option
    "run": ("scenarios",),
    "sweep": ("scenarios",),
    "dataset": ("scenarios",),
    "evaluate": ("policies", "tasks"),
    "train": ("tasks",),
    "experiment": ("experiments",),
    "urdf": ("platforms",),
    "plot": ("plots",),
    "list": (LISTED,),
}
ASSIGNING = ("--set", "--vary")  # take KEY=VALUE
OF_SCENARIOS = ("run", "replay", "sweep", "dataset")  # verbs whose keys are those of scenarios
KEYS_OF = "hover"  # scenario whose keys are offered

BASH = """\
# Completion of iap, made by: iap completion SHELL
{prelude}_iap() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} verb=${{COMP_WORDS[1]}} words=
    COMPREPLY=()
    if (( COMP_CWORD == 1 )); then
        COMPREPLY=($(compgen -W {verbs} -- "$word"))
        return
    fi
    case "$verb $before" in
{values}
    esac
    case $verb in
{words}
    esac
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o bashdefault -o default -F _iap iap ./iap
"""
ZSH = "autoload -Uz compinit bashcompinit && compinit && bashcompinit\n"
FISH = "# Completion of iap, made by: iap completion fish"


class Words(NamedTuple):
    """Words that may follow a verb.

    Attributes:
        verb: its name.
        typed: words that stand alone, options left out.
        options: long names of all options, with their help.
        values: words that follow an option that takes a value; none for paths, numbers and texts.
    """

    verb: str
    typed: list[str]
    options: dict[str, str]
    values: dict[str, list[str]]


def completion(options: argparse.Namespace) -> int:
    """Print the script."""
    names = {kind: [name for name, _ in KINDS[kind].rows()] for kind in _kinds() - {LISTED}}
    names[LISTED] = list(KINDS)
    keys = scenario_keys()
    words = [words_of(verb, names, keys) for verb in VERBS]
    sys.stdout.write(SHELLS[options.shell](words))
    return 0


def _kinds() -> set[str]:
    return {*OF_OPTIONS.values(), *(kind for kinds in OF_VERBS.values() for kind in kinds)}


def words_of(verb: str, names: Mapping[str, list[str]], keys: list[str]) -> Words:
    """The words that may follow a verb, with the names of each kind and the keys of a scenario."""
    typed = [name for kind in OF_VERBS.get(verb, ()) for name in names[kind]]
    texts, values = dict[str, str](), dict[str, list[str]]()
    for action in command_parser([verb])._actions:  # noqa: SLF001 - which argparse has no other way to
        choices = [str(each) for each in action.choices or ()]
        if not action.option_strings:
            typed += choices
            continue
        flag = action.option_strings[-1]
        texts[flag] = action.help or ""
        if action.nargs != 0:
            kind = OF_OPTIONS.get(f"{verb} {flag}") or OF_OPTIONS.get(flag, "")
            takes_keys = flag in ASSIGNING and verb in OF_SCENARIOS
            values[flag] = choices or (keys if takes_keys else names.get(kind, []))
    return Words(verb, list(dict.fromkeys(typed)), texts, values)


def bash_script(every: Sequence[Words], prelude: str = "") -> str:
    """A function of bash."""
    cases = defaultdict(list)  # by what follows
    for each in every:
        for flag, words in each.values.items():
            cases[" ".join(words)].append(f'"{each.verb} {flag}"')
    return BASH.format(
        prelude=prelude,
        verbs=shlex.quote(" ".join(each.verb for each in every)),
        values="\n".join(_bash_case("|".join(where), words) for words, where in cases.items()),
        words="\n".join(
            f"        {each.verb}) words={shlex.quote(' '.join([*each.typed, *each.options]))} ;;"
            for each in every
        ),
    )


def _bash_case(pattern: str, words: str) -> str:
    if not words:
        return f"        {pattern}) return ;;"
    first = "compopt -o nospace 2>/dev/null; " if "=" in words else ""
    reply = f'COMPREPLY=($(compgen -W {shlex.quote(words)} -- "$word"))'
    return f"        {pattern}) {first}{reply}; return ;;"


def fish_script(every: Sequence[Words]) -> str:
    """Lines of fish, one for each verb and option, with the texts of the help."""
    lines = [FISH]
    for each in every:
        what = f"-n __fish_use_subcommand -f -a {each.verb} -d {_fish_text(VERBS[each.verb].text)}"
        lines.append(f"complete -c iap {what}")
        where = f"complete -c iap -n '__fish_seen_subcommand_from {each.verb}'"
        if each.typed:
            lines.append(f"{where} -a {_fish_text(' '.join(each.typed))}")
        for flag, text in each.options.items():
            words = each.values.get(flag)
            value = (
                ""
                if words is None
                else f" -x -a {_fish_text(' '.join(words))}"
                if words
                else " -r"
            )
            lines.append(f"{where} -l {flag.removeprefix('--')}{value} -d {_fish_text(text)}")
    return "\n".join([*lines, ""])


def _fish_text(text: str) -> str:
    """A text in the quotes of fish, in which only these marks need a backslash."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


SHELLS: dict[str, Callable[[Sequence[Words]], str]] = {
    "bash": bash_script,
    "zsh": partial(bash_script, prelude=ZSH),
    "fish": fish_script,
}


def scenario_keys() -> list[str]:
    """Dotted paths of all values of a scenario's resolved configuration."""
    from iap_simulation.scenario.resolving import Options, resolve  # slow to import

    _, tree = resolve(KEYS_OF, Options())
    return sorted(_paths(tree))


def _paths(tree: Mapping[str, Any], parent: str = "") -> Iterable[str]:
    for key, value in tree.items():
        if isinstance(value, Mapping) and value:
            yield from _paths(value, f"{parent}{key}.")
        else:
            yield f"{parent}{key}="
