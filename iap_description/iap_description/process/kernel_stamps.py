# SPDX-License-Identifier: BSD-3-Clause
"""Tells numba's cache what a kernel depends on: its code, that of all kernels that it calls, and their constants.

numba looks at the file of a kernel alone, so that it would take over machine code that was made before a kernel of
another file was changed. An edit compiles anew what depends on it. Comments and docstrings compile nothing.
"""

import enum
import hashlib
import inspect
import sys
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, get_args, get_origin

import numpy as np
from numba.core import caching

SUITE = "iap_"  # what packages of the suite begin with
PLAIN = (bool, int, float, complex, str, bytes, slice, type(None), type(...), np.generic, np.dtype)
Kernel = Any  # a dispatcher of numba: a function with its options


class Stamp:
    """A digest of what a function depends on, made when it is first compared: then all that it calls is defined."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    @cached_property
    def _digest(self) -> str:
        return digest(self._function)

    def __eq__(self, other: object) -> bool:
        return str(other) == self._digest

    def __hash__(self) -> int:
        return hash(self._digest)

    def __str__(self) -> str:
        return self._digest

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (self._digest,)  # so that who reads an index needs no suite


class _Stamped:
    """A locator of one function, with its stamp."""

    _function: Callable[..., Any]

    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        super().__init__(py_func, py_file)  # type: ignore[call-arg]
        self._function = py_func

    def get_source_stamp(self) -> Stamp:
        """The stamp that numba keeps beside machine code, and compares."""
        return Stamp(self._function)

    def get_disambiguator(self) -> str:
        """The same for all: code that moves within its file is the same, and numba's keys have the code itself."""
        return "kernel"


class ChosenFolder(_Stamped, caching.UserProvidedCacheLocator):
    """Machine code in the folder that ``NUMBA_CACHE_DIR`` names."""


class BesideSource(_Stamped, caching.InTreeCacheLocator):
    """Machine code in the folder ``__pycache__`` beside its source."""


class KernelIndex(caching.IndexDataCacheFile):
    """The index of a kernel's machine code; it is empty where it names types that were renamed or moved since."""

    def _load_index(self) -> dict[Any, str]:
        try:
            overloads: dict[Any, str] = super()._load_index()
        except (AttributeError, ImportError):
            return {}
        return overloads


# numba has no setting for it. Of an assignment, readers of sources conclude that the class is its own ancestor: the
# site's build would end in their recursion.
vars(caching).update(IndexDataCacheFile=KernelIndex)


def digest(function: Callable[..., Any]) -> str:
    """A digest of a function's code and options, and of all kernels and constants that it depends on."""
    texts: dict[str, None] = {}
    ahead = [_kernel_of(function)]
    known = set()
    while ahead:
        each = ahead.pop()
        if id(each) in known:
            continue
        known.add(id(each))
        text, called = _entry(each)
        texts[text] = None
        ahead += called
    return hashlib.sha256("\n".join(sorted(texts)).encode()).hexdigest()


def _kernel_of(function: Callable[..., Any]) -> Kernel:
    """The dispatcher that a module has of a function; the function itself where there is none."""
    kernel = function.__globals__.get(function.__name__)
    return kernel if getattr(kernel, "py_func", None) is function else function


@cache
def _entry(kernel: Kernel) -> tuple[str, list[Kernel]]:
    """Text of one kernel alone, and the kernels that it refers to."""
    function: Any = getattr(kernel, "py_func", kernel)
    called: list[Kernel] = []
    words = [_name(function), _options(kernel), _code(function.__code__, function.__doc__)]
    for name, kind in inspect.get_annotations(function).items():
        words.append(
            f"{name}: {_kind(function.__globals__.get(kind, kind) if isinstance(kind, str) else kind)}"
        )
    for name, value in _referred(function):
        words.append(f"{name}={_text(value, called)}")
    return " ".join(words), called


def _name(value: Any) -> str:  # noqa: ANN401 - a function or a class
    return f"{value.__module__}.{value.__qualname__}"


def _options(kernel: Kernel) -> str:
    """Options that a kernel is compiled with; the content of its file for a function without a dispatcher."""
    if not hasattr(kernel, "py_func"):
        return _content(inspect.getfile(kernel))
    options = sorted(map(repr, getattr(kernel, "targetoptions", {}).items()))
    pipeline = getattr(getattr(kernel, "_compiler", None), "pipeline_class", None)
    return f"{options} {_home(pipeline)}"


def _code(code: CodeType, docstring: str | None = None) -> str:
    """A digest of byte code and what is inside, without docstring, names of files and numbers of lines."""
    inside = [c for c in code.co_consts if docstring is None or c != docstring]
    constants = [_code(c) if isinstance(c, CodeType) else _constant(c) for c in inside]
    parts = (code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars)
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _constant(value: object) -> str:
    return repr(sorted(map(repr, value))) if isinstance(value, frozenset) else repr(value)


def _referred(function: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """Names that a function's code refers to outside itself, with their values; of a module, what is used of it."""
    names = sorted(set(_global_names(function.__code__)))
    for name in names:
        if name in function.__globals__:
            value = function.__globals__[name]
            yield name, value
            if isinstance(value, ModuleType) and value.__name__.startswith(SUITE):
                yield from ((f"{name}.{n}", getattr(value, n)) for n in names if hasattr(value, n))
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents
    yield "defaults", function.__defaults__


def _global_names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _global_names(each)


def _text(value: Any, called: list[Kernel]) -> str:  # noqa: ANN401 - anything
    """The share of a value in a stamp; kernels are added to those that are called."""
    if hasattr(value, "py_func"):
        called.append(value)
        is_named = (
            value.py_func.__module__ in sys.modules and value.py_func.__module__ != "builtins"
        )
        return _name(value.py_func) if is_named else _entry(value)[0]
    if isinstance(value, enum.Enum):
        return repr(value)
    if isinstance(value, PLAIN):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, np.ndarray):
        data = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"{value.dtype!r} {value.shape} {data}"
    if isinstance(value, (tuple, list)):
        return f"{_kind(type(value))} {[_text(each, called) for each in value]}"
    if isinstance(value, ModuleType):
        return value.__name__
    if isinstance(value, type):
        return _kind(value)
    words = "" if " at 0x" in repr(value) else repr(value)
    return f"{getattr(value, '__qualname__', type(value).__qualname__)} {words} {_home(value)}"


@cache
def _kind(kind: Any) -> str:  # noqa: ANN401 - a type
    """The share of a type in a stamp: of a named tuple its fields with their types, of other classes their file."""
    if get_args(kind):
        parts = (tuple(each) if isinstance(each, list) else each for each in get_args(kind))
        return f"{get_origin(kind)} {[_kind(each) for each in parts]}"
    if not isinstance(kind, type):
        return repr(kind)
    fields = getattr(kind, "_fields", None)
    if fields is None:
        return f"{_name(kind)} {_home(kind)}"
    hints = inspect.get_annotations(kind)
    return f"{_name(kind)} {[(each, _kind(hints.get(each))) for each in fields]}"


def _home(value: Any) -> str:  # noqa: ANN401 - anything
    """The content of the file that defines something; of others' libraries, which change together, the name."""
    module = getattr(value, "__module__", None) or type(value).__module__
    path = getattr(sys.modules.get(module), "__file__", None)
    if path is None or not path.endswith(".py") or _is_library(module, path):
        return str(module)
    return _content(path)


def _content(path: str) -> str:
    """A digest of a file as it is now."""
    return _content_of(path, Path(path).stat().st_mtime_ns)


@cache
def _content_of(path: str, _: int) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _is_library(module: str, path: str) -> bool:
    top = module.partition(".")[0]
    if top.startswith(SUITE):
        return False
    return top in sys.stdlib_module_names or "site-packages" in path
