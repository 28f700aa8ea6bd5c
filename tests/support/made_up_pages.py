# SPDX-License-Identifier: BSD-3-Clause
"""A server of pages that serves nobody: what stands on its panels and in its scene is known and can be clicked."""

from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np


class Element:
    """A part of a panel, or a node of a scene, with what it was made of."""

    def __init__(self, kind, args, options):
        self.kind, self.args, self.options = kind, args, options
        self.label = args[0] if args else None
        self.value = options.get("initial_value")
        self.content = args[0] if args else ""
        self.callbacks, self.removed = [], False
        self.__dict__.update(
            {k: v for k, v in options.items() if k in ("visible", "position", "wxyz", "scale")}
        )

    def _take(self, callback):
        self.callbacks.append(callback)
        return callback

    on_click = on_update = on_trigger = _take

    def change(self, value=None, client=None):
        """Let a person change or click it."""
        if value is not None:
            self.value = value
        for each in self.callbacks:
            each(SimpleNamespace(target=self, client=client))

    click = change

    def remove(self):
        """Take it away."""
        self.removed = True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


class Made:
    """Elements in the order in which they were made."""

    def __init__(self):
        self.elements = []

    def __getattr__(self, name):
        if not name.startswith("add_"):
            raise AttributeError(name)

        def add(*args, **options):
            made = Element(name.removeprefix("add_"), args, options)
            if (
                made.kind in ("slider", "checkbox", "text", "dropdown")
                and made.value is None
                and len(args) > 1
            ):
                made.value = args[-1] if made.kind != "dropdown" else args[1][0]
            self.elements.append(made)
            return made

        return add

    def configure_theme(self, **_):
        """Take any look."""

    def reset(self):
        """Take everything away."""
        for each in self.elements:
            each.removed = True
        self.elements = []

    def named(self, label):
        """The element of a label that is still there."""
        (found,) = [each for each in self.elements if each.label == label and not each.removed]
        return found

    def of(self, kind):
        """Elements of a kind that are still there."""
        return [each for each in self.elements if each.kind == kind and not each.removed]


class Server:
    """A server with a panel, a scene and a first camera."""

    def __init__(self):
        self.gui, self.scene = Made(), Made()
        self.initial_camera = SimpleNamespace(position=None, look_at=None)
        self.clients, self.stopped, self.lingered = {}, 0, []

    @contextmanager
    def atomic(self):
        """All changes at once."""
        yield

    def get_clients(self):
        """Pages that are open."""
        return self.clients

    def stop(self):
        """End."""
        self.stopped += 1

    def linger(self, is_over):
        """Stay."""
        self.lingered.append(is_over)


class Camera:
    """A page's camera at a place, which looks at the origin."""

    def __init__(self, *position):
        self.position, self.look_at = np.array(position), np.zeros(3)


def page(*position):
    """A page that is open."""
    return SimpleNamespace(camera=Camera(*position))
