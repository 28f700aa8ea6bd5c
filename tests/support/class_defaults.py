# SPDX-License-Identifier: BSD-3-Clause
"""Defaults of classes of any kind."""

from typing import Any


def defaults_of(kind: Any) -> dict[str, Any]:
    """Defaults of a validated record, or of a tuple, a dataclass or another class, by name."""
    fields = getattr(kind, "model_fields", None)
    if fields is not None:
        return {name: each.default for name, each in fields.items()}
    return getattr(kind, "_field_defaults", None) or vars(kind)
