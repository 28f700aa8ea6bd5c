# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of commands about the installation: ``iap doctor`` and ``iap completion``."""

from iap_bringup.cli.arguments.parser import CommandParser, Later


def add_doctor(parser: CommandParser) -> None:
    """Options of ``iap doctor``."""
    parser.description = (
        "Print what is installed, with versions, what is missing, and the line that mends it."
    )
    parser.examples = ("iap doctor", "iap doctor --json")
    parser.epilog = (
        "Marks: ! is missing, and nothing flies without it; - is missing, and optional."
    )
    parser.add_argument("--json", action="store_true", help="print the findings as one line")
    parser.set_defaults(run=Later("doctor", "doctor", compiles=False))


def add_completion(parser: CommandParser) -> None:
    """Options of ``iap completion``."""
    parser.description = "Print a script that completes commands, options, names and keys."
    parser.examples = (
        'eval "$(iap completion bash)"',
        "iap completion bash > ~/.local/share/bash-completion/completions/iap",
        "iap completion zsh >> ~/.zshrc",
        "iap completion fish > ~/.config/fish/completions/iap.fish",
    )
    parser.epilog = "The first example is for this shell, the others are for every new one."
    parser.add_argument(
        "shell", choices=("bash", "zsh", "fish"), help="shell that reads the script"
    )
    parser.set_defaults(run=Later("completion", "completion", compiles=False))
