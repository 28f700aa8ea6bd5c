# SPDX-License-Identifier: BSD-3-Clause
"""Classes that a configuration names: built-in ones by a short name, a user's own as ``module:Class``."""

import importlib
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import AfterValidator

from iap_description.config.alternatives import alternatives, near
from iap_description.errors import BadInput

CALLERS_PATH = "IAP_CALLERS_PYTHONPATH"
NO_NAMES: Mapping[str, str] = {}


def name_of(built_in: Mapping[str, str]) -> AfterValidator:
    """Validates a key that holds one of the names in `built_in`, or ``module:Class``."""

    def known(name: str) -> str:
        if name not in built_in and ":" not in name:
            meant = near(name, built_in)
            raise ValueError(meant or f"choose {', '.join(built_in)}, or module:Class of your own")
        return name

    return AfterValidator(known)


def load_named(name: str, *, key: str, built_in: Mapping[str, str] = NO_NAMES) -> object:
    """Import what ``module:NAME`` names; None where the module has no such name. See `load_class`.

    Raises:
        BadInput: the name is unknown, or its module cannot be imported.
    """
    module_name, colon, class_name = built_in.get(name, name).partition(":")
    if not (module_name and colon and class_name):
        other = (
            f"{alternatives(name, built_in)} (or module:Class)"
            if built_in
            else "choose module:Class"
        )
        raise BadInput(f"key '{key}': unknown name '{name}': {other}")
    if name not in built_in:
        _look_at_home()
    try:
        module = importlib.import_module(module_name)
    except BadInput:
        raise
    except Exception as error:  # whatever a user's module raises belongs in one line
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise BadInput(
            f"key '{key}': module '{module_name}' cannot be imported: {reason}"
        ) from error
    return getattr(module, class_name, None)


def _look_at_home() -> None:
    """Let modules be found in the present folder and on the user's own PYTHONPATH, behind all else.

    ``./iap`` keeps that path in IAP_CALLERS_PYTHONPATH, since a module of it must not stand before one of the suite's.
    """
    places = os.environ.get(CALLERS_PATH, "").split(os.pathsep)
    for place in (str(Path.cwd()), *filter(None, places)):
        if place not in sys.path:
            sys.path.append(place)


def load_class(
    name: str,
    protocol_methods: Iterable[str],
    *,
    key: str,
    built_in: Mapping[str, str] = NO_NAMES,
) -> type:
    """Import the class that a configuration's key names.

    Args:
        name: one of the names in `built_in`, or ``module:Class``; the module is found as by `import`, or else
            in the present folder or on the user's own PYTHONPATH.
        protocol_methods: names of the methods that the class must have.
        key: the configuration's key, for errors.
        built_in: short name -> ``module:Class``.

    Raises:
        BadInput: the name is unknown, its module cannot be imported, or the class is missing or lacks a method.
    """
    loaded = load_named(name, key=key, built_in=built_in)
    if not isinstance(loaded, type):
        module, _, class_name = built_in.get(name, name).partition(":")
        raise BadInput(f"key '{key}': module '{module}' has no class '{class_name}'")
    for method in protocol_methods:
        owners = [vars(base) for base in loaded.__mro__ if method in vars(base)]
        if not owners or not callable(owners[0][method]):
            raise BadInput(f"key '{key}': class '{name}' has no method '{method}'")
    return loaded
