# SPDX-License-Identifier: BSD-3-Clause
"""The command ``iap completion``: a shell script with all words, so that completing starts no Python."""

import argparse
import shlex
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from iap_bringup.cli.listing import KINDS
from iap_bringup.cli.main import VERBS, command_parser

LISTED = "kinds"  # names of the kinds themselves
OF_OPTIONS = {  # option -> kind of the names that it takes
    "--platform": "platforms",
    "--gains": "gains",
    "--engine": "engines",
    "--sensors": "sensors",
    "--scene": "scenes",
    "--state-source": "methods",
    "--method": "methods",
    "--frontend": "frontends",
    "--task": "tasks",
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
KEYS_OF = "hover"  # scenario whose keys are offered

SCRIPT = """\
# Completion of iap, made by: iap completion SHELL
{prelude}_iap() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} verb=${{COMP_WORDS[1]}} words=
    COMPREPLY=()
    if (( COMP_CWORD == 1 )); then
        COMPREPLY=($(compgen -W {verbs} -- "$word"))
        return
    fi
    case $before in
{of_options}
    esac
    case $verb in
{of_verbs}
    esac
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o bashdefault -o default -F _iap iap ./iap
"""
ZSH = "autoload -Uz compinit bashcompinit && compinit && bashcompinit\n"


def completion(options: argparse.Namespace) -> int:
    """Print the script."""
    names = {kind: [name for name, _ in KINDS[kind].rows()] for kind in _kinds() - {LISTED}}
    names[LISTED] = list(KINDS)
    sys.stdout.write(script(options.shell, names, scenario_keys()))
    return 0


def _kinds() -> set[str]:
    return {*OF_OPTIONS.values(), *(kind for kinds in OF_VERBS.values() for kind in kinds)}


def script(shell: str, names: Mapping[str, Iterable[str]], keys: Iterable[str]) -> str:
    """The script of a shell, with the names of each kind and the keys of a scenario."""
    options = {flag: names[kind] for flag, kind in OF_OPTIONS.items()}
    branches = [_branch(flag, words) for flag, words in options.items()]
    branches.append(_branch("|".join(ASSIGNING), keys, "compopt -o nospace 2>/dev/null; "))
    verbs = []
    for verb in VERBS:
        parser = command_parser([verb])
        typed = [name for kind in OF_VERBS.get(verb, ()) for name in names[kind]]
        typed += [word for action in parser._actions for word in _choices(action)]  # noqa: SLF001
        flags = [flag for action in parser._actions for flag in action.option_strings]  # noqa: SLF001
        long = (flag for flag in flags if flag.startswith("--"))
        words = " ".join(dict.fromkeys([*typed, *long]))
        verbs.append(f"        {verb}) words={shlex.quote(words)} ;;")
    return SCRIPT.format(
        prelude=ZSH if shell == "zsh" else "",
        verbs=shlex.quote(" ".join(VERBS)),
        of_options="\n".join(branches),
        of_verbs="\n".join(verbs),
    )


def _branch(pattern: str, words: Iterable[str], first: str = "") -> str:
    """A case of the shell that completes by some words."""
    text = shlex.quote(" ".join(words))
    return f'        {pattern}) {first}COMPREPLY=($(compgen -W {text} -- "$word")); return ;;'


def _choices(action: argparse.Action) -> list[str]:
    """Words of an argument without an option that has choices."""
    if action.option_strings or action.choices is None:
        return []
    return [str(each) for each in action.choices]


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
