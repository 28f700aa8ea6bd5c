# SPDX-License-Identifier: BSD-3-Clause
"""Files of tasks, ``data/tasks/NAME.yaml``."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from iap_description.config.record import Presets, override

TASKS = Presets(Path(__file__).parents[1] / "data" / "tasks", "task")


def task_tree(name: str, settings: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The plain tree of a task's file, on top of the one that its key `extends` names; arguments as those of `Task.of`.

    Raises:
        BadInput: there is no such task or key.
    """
    path = TASKS.file_or_path(name)
    sets = [f"{key}={json.dumps(value)}" for key, value in (settings or {}).items()]
    return override({"name": path.stem, **TASKS.extended(path)}, sets)
