# SPDX-License-Identifier: BSD-3-Clause
"""Classes by name: built-in, a user's own, and the faults a user can make."""

import sys

import pytest

from iap_description.config.plugins import load_class
from iap_description.errors import BadInput

METHODS = ("reset", "__call__")
BUILT_IN = {"mine": "own_module:Good"}


@pytest.fixture(autouse=True)
def own_module(tmp_path, monkeypatch):
    methods = "def reset(self): pass\n    def __call__(self): pass"
    classes = {"Good": methods, "Bare": "reset = 1", "Quiet": "def reset(self): pass"}
    text = "".join(f"class {name}:\n    {body}\n" for name, body in classes.items())
    (tmp_path / "own_module.py").write_text(text)
    (tmp_path / "broken_module.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.parametrize("name", ["mine", "own_module:Good"])
def test_a_class_is_found_by_its_short_name_and_by_its_module(name):
    assert load_class(name, METHODS, key="a.b", built_in=BUILT_IN).__name__ == "Good"


def test_a_module_is_found_in_the_present_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.path", [entry for entry in sys.path if entry != str(tmp_path)])
    (tmp_path / "here_only.py").write_text("class Own:\n    def reset(self): pass\n")
    monkeypatch.chdir(tmp_path)
    assert load_class("here_only:Own", ["reset"], key="a.b").__name__ == "Own"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("other", "key 'a.b': unknown name 'other' (choices: mine, or module:Class)"),
        ("no_such:X", "key 'a.b': module 'no_such' cannot be imported: ModuleNotFoundError: "),
        ("broken_module:X", "'broken_module' cannot be imported: ZeroDivisionError: division by"),
        ("own_module:Missing", "key 'a.b': module 'own_module' has no class 'Missing'"),
        ("own_module:Bare", "key 'a.b': class 'own_module:Bare' has no method 'reset'"),
        ("own_module:Quiet", "key 'a.b': class 'own_module:Quiet' has no method '__call__'"),
    ],
)
def test_what_is_no_such_class_is_refused_in_one_line(name, message):
    with pytest.raises(BadInput) as refusal:
        load_class(name, METHODS, key="a.b", built_in=BUILT_IN)
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)
