# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of commands about policies: ``iap evaluate``, ``train`` and ``dataset --policy``."""

from pathlib import Path

from iap_bringup.cli.arguments.options import (
    add_assignments,
    add_count,
    add_folder,
    add_json,
    add_live_options,
)
from iap_bringup.cli.arguments.parser import CommandParser, Later, Need

BATCHED = "batched"
ENGINES = (BATCHED, "pybullet", "mujoco", "closed_form")
FIRST_SEED = 1_000_000
NOMINAL = "nominal"  # preset that is the task itself, see `iap_learning.evaluation.subjects`
DATASETS = Path("datasets")


def _policy_names() -> str:
    from iap_learning.evaluation.flyers import BASELINES
    from iap_learning.policies.policy import shipped_policies

    policies = ", ".join(shipped_policies()) or "none ships"
    return f"policies: {policies}\n{_task_names()}\nbaselines: {', '.join(BASELINES)}"


def _task_names() -> str:
    from iap_learning.tasks.task import TASKS

    return f"tasks: {', '.join(TASKS.names())}"


def _expert_names() -> str:
    from iap_learning.tasks.agents import EXPERTS

    return f"{_task_names()}\nexperts: {', '.join(EXPERTS.names())}"


def _add_preset(parser: CommandParser, what: str, default: str | None) -> None:
    text = f"variant of the task, such as hard, which {what} TASK_hard (default: {NOMINAL})"
    parser.add_argument("--preset", default=default, help=text)


def add_evaluate(parser: CommandParser) -> None:
    """Options of ``iap evaluate``."""
    parser.description = (
        "Fly a policy for many episodes, and print how often and how well it succeeds."
    )
    parser.examples = (
        "iap evaluate docking --preset hard --episodes 1000 --seed 7",
        "iap evaluate script --task docking --engine mujoco --episodes 20",
        "iap evaluate trainings/docking-001/policy.npz --view web",
        "iap evaluate arm_reach --set settings.plant.noise=0.02",
        "iap evaluate peg_in_hole --against controller --episodes 128",
    )
    parser.names = _policy_names
    parser.add_argument(
        "policy",
        help="name of a policy, path of its .npz file, or a task with a shipped policy; with --task also a baseline",
    )
    parser.add_argument("--task", help="task to fly (default: that of the policy)")
    _add_preset(parser, "flies", None)
    add_assignments(parser, "change a key of the task; settings.KEY is a key of its scenario")
    add_count(parser, "--episodes", "number of episodes", 1000)
    text = f"seed of the first episode; the next ones follow (default: {FIRST_SEED}, far from those of training)"
    parser.add_argument("--seed", type=int, default=FIRST_SEED, metavar="N", help=text)
    parser.add_argument(
        "--engine", choices=ENGINES, default=BATCHED, help="physics (default: batched)"
    )
    add_count(parser, "--threads", "threads that share the worlds", 1)
    parser.add_argument(
        "--against",
        metavar="WHO",
        help="another policy or baseline that flies the same episodes, to be compared draw by draw (default: none)",
    )
    parser.add_argument(
        "--export",
        type=Path,
        metavar="FILE",
        help="write the policy as ONNX (.onnx) or as C without heap (.h) (default: not written)",
    )
    _add_pictures(parser)
    add_folder(parser, "evaluations/NAME-001")
    parser.add_argument(
        "--no-record", action="store_true", help="do not fly failures again for a recording"
    )
    parser.add_argument("--no-plot", action="store_true", help="write no plot")
    add_json(parser, "evaluation.json")
    parser.set_defaults(run=Later("evaluate", "run"))


def _add_pictures(parser: CommandParser) -> None:
    parser.add_argument(
        "--video",
        type=Path,
        metavar="FILE",
        help="write a video of the first episode: .webm, .mp4, .webp or .gif (default: none)",
    )
    parser.add_argument(
        "--view",
        choices=("web",),
        help="fly the episodes one by one in an engine, and show them in the browser (default: not shown)",
    )
    parser.add_argument(
        "--realtime", action="store_true", help="with --view: keep pace with the wall clock"
    )
    add_live_options(parser)
    parser.needs.append(Need(("realtime",), "--view web", lambda options: bool(options.view)))


def add_train(parser: CommandParser) -> None:
    """Options of ``iap train``."""
    parser.description = (
        "Train a policy, first offline from flights of experts, then online in episodes."
    )
    parser.examples = (
        "iap train docking --preset hard --seed 1",
        "iap train hold --steps 1000000 --set online.ppo.gamma=0.98",
        "iap train --resume trainings/docking-001",
    )
    parser.add_argument(
        "task",
        nargs="?",
        help="name of a task with an experiment, or path of an experiment's YAML file",
    )
    _add_preset(parser, "trains for", NOMINAL)
    parser.add_argument(
        "--offline",
        choices=["bc", "td3bc", "iql", "none"],
        help="method that learns from flights of experts (default: the experiment's)",
    )
    parser.add_argument(
        "--online",
        choices=["ppo", "none"],
        help="method that learns in episodes (default: the experiment's)",
    )
    add_count(parser, "--seed", "seed of all random numbers (default: the experiment's)")
    add_count(
        parser, "--steps", "steps online, of all worlds together (default: the experiment's)"
    )
    add_assignments(parser, "change any key of the experiment, e.g. online.ppo.gamma=0.98")
    where = parser.add_mutually_exclusive_group()
    add_folder(where, "trainings/NAME-001")
    where.add_argument(
        "--resume",
        type=Path,
        metavar="FOLDER",
        help="folder of a training that goes on from its checkpoint (default: a new training)",
    )
    parser.set_defaults(run=Later("train", "run"))


def add_dataset(parser: CommandParser) -> None:
    """Options of ``iap dataset --policy``."""
    parser.description = (
        "Fly a task by an expert for many episodes and write a data set of Minari."
    )
    parser.examples = ("iap dataset docking --policy noisy_script --episodes 500",)
    parser.names = _expert_names
    parser.add_argument("task", help="name of a task, or path of its YAML file")
    parser.add_argument(
        "--policy", required=True, help="policy that flies: an expert, or path of its YAML file"
    )
    _add_preset(parser, "flies", NOMINAL)
    add_count(parser, "--episodes", "number of episodes", 500)
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        help="seed of the first episode; the next ones follow (default: 0)",
    )
    add_count(parser, "--threads", "threads that share the worlds", 1)
    add_assignments(parser, "change a key of the task; settings.KEY is a key of its scenario")
    parser.add_argument(
        "--out",
        type=Path,
        default=DATASETS,
        metavar="DIR",
        help=f"folder of data sets (default: {DATASETS})",
    )
    parser.add_argument("--json", action="store_true", help="print the summary as one line")
    parser.set_defaults(run=Later("episode_dataset", "run"))
