# SPDX-License-Identifier: BSD-3-Clause
"""Leaves out what Sphinx does many times over with a reference of a thousand modules; its pages stay as they are."""

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from types import SimpleNamespace
from typing import Any

MODULES = "reference/python/"  # pages of the reference of Python
OBJECTS = "autoapi_objects", "autoapi_all_objects"  # of Sphinx's environment
LINK = re.compile(r'(?<=href=")(?![^"]*://)[^"]*')
ANY = 1  # mode of a search in which an object may be anywhere


class StaysHere(dict[str, Any]):
    """A dictionary of which another process gets an empty copy.

    Sphinx carries its whole environment back from each process that has read some pages. autoapi keeps all objects
    there, which no page changes.
    """

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[()]]:
        return dict, ()


def keep_objects_here(app: Any) -> None:  # noqa: ANN401 - Sphinx's
    """Keep the objects of autoapi, which has made them by now, out of what processes send each other."""
    for name in OBJECTS:
        if hasattr(app.env, name):
            setattr(app.env, name, StaysHere(getattr(app.env, name)))


def without_imports(read: Callable[..., dict[str, Any] | None]) -> Callable[..., Any]:
    """A reader of modules that leaves out the names that a module imports.

    autoapi copies each of them from its own module, with all members, and then hides the copy. Packages and modules
    with ``__all__`` show what they import, so they keep it.
    """

    def read_file(*args: object, **named: object) -> dict[str, Any] | None:
        module = read(*args, **named)
        if module and module["type"] == "module" and module["all"] is None:
            own = [each for each in module["children"] if each["type"] != "placeholder"]
            module["children"] = own
        return module

    return read_file


def among_namesakes(find: Callable[..., Any]) -> Callable[..., Any]:
    """A search of the domain of Python that looks among the objects whose last name is the one that is sought.

    Sphinx compares the names of all objects for each type of each argument.
    """
    namesakes: dict[str, dict[str, Any]] = defaultdict(dict)
    known = 0

    def find_obj(  # noqa: PLR0913 - Sphinx's
        domain: Any,  # noqa: ANN401 - Sphinx's
        env: object,
        module: str,
        owner: str,
        name: str,
        role: str | None,
        mode: int = 0,
    ) -> Any:  # noqa: ANN401 - Sphinx's
        nonlocal known
        if mode != ANY:
            return find(domain, env, module, owner, name, role, mode)
        if known != len(domain.objects):
            namesakes.clear()
            for each, entry in domain.objects.items():
                namesakes[each.rpartition(".")[2]][each] = entry
            known = len(domain.objects)
        objects = namesakes.get(name.removesuffix("()").rpartition(".")[2], {})
        among = SimpleNamespace(
            objects=objects,
            object_types=domain.object_types,
            objtypes_for_role=domain.objtypes_for_role,
        )
        return find(among, env, module, owner, name, role, mode)

    return find_obj


class Sidebar:
    """The tree of contents beside the pages of modules, which are in no tree themselves: made once for all.

    Sphinx copies the headings of all pages for each page.
    """

    def __init__(self) -> None:
        self._made: dict[str, str] = {}

    def share(
        self, app: object, page: str, template: str, context: dict[str, Any], tree: object
    ) -> None:
        """Put the common tree in place of a module's own."""
        if page.startswith(MODULES) and page.count("/") > MODULES.count("/") + 1:
            context["toctree"] = partial(self._tree, context["toctree"], page)

    def _tree(self, make: Callable[..., str], page: str, **options: object) -> str:
        folder, key = posixpath.dirname(page), repr(sorted(options.items()))
        if key not in self._made:
            rooted = partial(posixpath.join, folder)
            self._made[key] = LINK.sub(
                lambda link: posixpath.normpath(rooted(link[0])), make(**options)
            )
        up = "../" * page.count("/")
        return LINK.sub(lambda link: up + link[0], self._made[key])


def make_quick(app: Any) -> None:  # noqa: ANN401 - Sphinx's
    """Leave these costs out of a build with autoapi."""
    stand_in = import_module("astroid.brain.brain_numpy_ndarray")
    reader = import_module("autoapi._mapper").Mapper
    domain = import_module("sphinx.domains.python").PythonDomain
    # Numpy's arrays have a stand-in of 130 lines, which is parsed anew where a name may be one.
    stand_in.extract_node = cache(stand_in.extract_node)
    reader.read_file = without_imports(reader.read_file)
    domain.find_obj = among_namesakes(domain.find_obj)
    app.connect("builder-inited", keep_objects_here, priority=900)
    app.connect("html-page-context", Sidebar().share, priority=400)  # before the theme's
