# SPDX-License-Identifier: BSD-3-Clause
"""Physics engines by name: built-in ones, or a class of the user's own."""

import importlib.util
import inspect
from typing import Annotated, Any

from iap_description.config.plugins import load_class, name_of
from iap_description.errors import BadInput
from iap_description.process.extras import install_line
from iap_physics.engines.batch_engine import BatchEngine, Share
from iap_physics.engines.engine import Engine

KEY = "engine.name"
ENGINES = {  # imported only where they fly: PyBullet takes its time
    "pybullet": "iap_physics.engines.pybullet.engine:PyBulletEngine",
    "mujoco": "iap_physics.engines.mujoco.engine:MuJoCoEngine",
    "closed_form": "iap_physics.engines.closed_form:ClosedFormEngine",
}
BATCHES = {  # engines of many worlds
    "closed_form": "iap_physics.engines.closed_form:ClosedFormEngine",
    "mujoco": "iap_physics.engines.mujoco.worlds:MuJoCoWorlds",
}
FREE = "closed_form"  # in which nothing touches anything
AUTO = "auto"  # name of the first engine of `BY_DEFAULT` that is installed
BY_DEFAULT = ("pybullet", "mujoco")
ARMS_ONLY = ("put_arm",)  # what an engine that refuses arms can do without
METHODS = tuple(
    name
    for name, member in vars(Engine).items()
    if callable(member) and name[0] != "_" and name not in ARMS_ONLY
)


LIBRARIES = {"pybullet": "pybullet", "mujoco": "mujoco"}  # that engines need
EngineName = Annotated[str, name_of(ENGINES)]


def make_engine(name: str, *, view: bool = False) -> Engine:
    """A fresh engine, not loaded yet.

    Args:
        name: one of `ENGINES`, or ``module:Class`` of a class with all methods of `Engine`, made without arguments.
        view: open the engine's window, of an engine that takes `view`.

    Raises:
        BadInput: no such engine, it lacks a method or the window, or it needs what is not installed.
    """
    made: Any = load_class(name, METHODS, key=KEY, built_in=ENGINES)
    if getattr(made, "_is_protocol", False):
        raise BadInput(f"key '{KEY}': class '{name}' is a protocol, not an engine")
    try:
        inspect.signature(made.load).bind(*"self world assemblies x".split())
    except TypeError as error:
        expected = "load(self, world, assemblies, x=None)"
        raise BadInput(
            f"key '{KEY}': method 'load' of class '{name}' takes no states to start from: {expected} is expected"
        ) from error
    takes_view = "view" in inspect.signature(made).parameters
    if view and not takes_view:
        raise BadInput(
            f"engine '{name}' opens no window: --view web shows its flights in a browser"
        )
    engine: Engine = made(view=view) if takes_view else made()
    return engine


def make_batch(name: str, batch: int, share: Share) -> BatchEngine:
    """A fresh engine of many worlds, each of which ends alone; not loaded yet.

    Args:
        name: one of `BATCHES`.
        batch: number of worlds.
        share: has work done on all of them, for an engine that shares them out itself.

    Raises:
        BadInput: no such engine, or it needs what is not installed.
    """
    made = load_class(name, METHODS, key=KEY, built_in=BATCHES)
    shares = {"share": share} if "share" in inspect.signature(made).parameters else {}
    engine: BatchEngine = made(batch=batch, raises=False, **shares)
    return engine


def default_engine() -> str:
    """The engine of who names none: PyBullet, or else MuJoCo.

    Raises:
        BadInput: neither is installed; with the line that installs one.
    """
    for name in BY_DEFAULT:
        if is_installed(name):
            return name
    raise BadInput(
        f"no physics engine is installed: get MuJoCo by {install_line('mujoco')}, or fly freely by --engine closed_form"
    )


def is_installed(name: str) -> bool:
    """True if a built-in engine has what it needs."""
    return name not in LIBRARIES or importlib.util.find_spec(LIBRARIES[name]) is not None
