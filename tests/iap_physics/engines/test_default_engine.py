# SPDX-License-Identifier: BSD-3-Clause
"""The engine of who names none, and libraries that are not installed."""

from types import SimpleNamespace

import pytest

from iap_bringup.cli.doctor import pybullet_remedy
from iap_description.errors import BadInput
from iap_description.process import extras
from iap_physics.engines import make
from iap_simulation.scenario.resolving import Options, resolve


def installed(monkeypatch, *names):
    monkeypatch.setattr(make, "is_installed", lambda name: name in names)


@pytest.mark.parametrize(
    ("names", "engine"), [(("pybullet", "mujoco"), "pybullet"), (("mujoco",), "mujoco")]
)
def test_a_scenario_flies_in_the_first_engine_that_is_installed(names, engine, monkeypatch):
    installed(monkeypatch, *names)
    scenario, tree = resolve("hover", Options())
    assert scenario.engine.name == tree["engine"]["name"] == engine


def test_an_engine_that_is_named_is_taken(monkeypatch):
    installed(monkeypatch, "pybullet", "mujoco")
    assert resolve("hover", Options(engine="mujoco"))[0].engine.name == "mujoco"


def test_an_engine_without_a_window_is_not_asked_for_one_in_silence():
    with pytest.raises(BadInput, match="'closed_form' opens no window: --view web"):
        make.make_engine("closed_form", view=True)


def test_without_an_engine_one_line_says_how_to_get_one(monkeypatch):
    installed(monkeypatch)
    with pytest.raises(BadInput, match=r"no physics engine .* pip install .*closed_form") as error:
        resolve("hover", Options())
    assert "\n" not in str(error.value)
    assert resolve("hover", Options(engine="closed_form"))[0].engine.name == "closed_form"


def test_a_model_of_logs_flies_where_the_engine_of_others_is_missing(monkeypatch):
    installed(monkeypatch, "mujoco")
    assert resolve("arm_path", Options())[0].plant.type == "identified"


def test_a_library_that_is_missing_is_named_with_ranges_where_pip_installed_the_suite(
    monkeypatch, tmp_path
):
    monkeypatch.setattr(extras, "CHECKOUT", tmp_path)
    lines = ['viser<2,>=1; extra == "view"', "numpy", 'mujoco-core<5,>=4; extra == "mujoco"']
    monkeypatch.setattr(extras, "requires", lambda _: lines)
    text = str(extras.missing("mujoco", "engine 'mujoco' needs", "mujoco"))
    assert text.endswith("-m pip install 'mujoco-core<5,>=4'")
    monkeypatch.setattr(extras, "requires", lambda _: None)
    assert extras.install_line("view").endswith("pip install 'iap-suite[view]'")


@pytest.mark.parametrize(("minor", "brought"), [(11, "pybullet<3.3"), (12, "mujoco-core<5")])
def test_the_extra_of_pybullet_brings_what_has_a_wheel_for_this_python(
    minor, brought, monkeypatch, tmp_path
):
    monkeypatch.setattr(extras, "CHECKOUT", tmp_path)
    python = SimpleNamespace(version_info=(3, minor), executable="python")
    monkeypatch.setattr(extras, "sys", python)
    lines = [
        'pybullet<3.3; python_version < "3.12" and extra == "pybullet"',
        'mujoco-core<5; python_version >= "3.12" and extra == "pybullet"',
    ]
    monkeypatch.setattr(extras, "requires", lambda _: lines)
    assert extras.install_line("pybullet") == f"python -m pip install '{brought}'"
    assert ("fly in MuJoCo" in pybullet_remedy((3, minor))) == (minor > 11)


def test_a_module_that_is_missing_is_an_error_when_it_is_used_and_not_before(monkeypatch):
    module = extras.LazyModule("no_such_module", "images need", "cameras")
    with pytest.raises(BadInput, match="images need no_such_module, which is not installed"):
        _ = module.imread


def test_a_module_that_is_there_is_the_module_itself():
    assert extras.LazyModule("math", "sums need", "none").pi == pytest.approx(3.14159, abs=1e-5)
