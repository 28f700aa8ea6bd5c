# SPDX-License-Identifier: BSD-3-Clause
"""Files and blocks of policies, agents and data sets that do not fit: what is refused, and what is said."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_learning import learned_agents
from iap_learning.evaluation.subjects import subject_of
from iap_learning.policies.array_file import array_file_bytes, read_array_file
from iap_learning.policies.blocks.convolution import Convolution
from iap_learning.policies.policy import Policy
from iap_learning.policies.scenario_policies import policy_of
from iap_learning.tasks.user_actions import UserAction
from iap_learning.tasks.user_inputs import TermInputs
from iap_learning.tasks.user_terms import UserTerm, numbers_of


def test_an_array_file_has_a_header_and_numbers(tmp_path):
    path = tmp_path / "p.npz"
    path.write_bytes(array_file_bytes('{"a": 1}', {"w": np.arange(3.0)}))
    header, arrays = read_array_file(path, "a policy's file")
    assert header == {"a": 1} and list(arrays) == ["w"]
    path.write_bytes(array_file_bytes("{}", {"w": np.array("words")}))
    with pytest.raises(BadInput, match=r"p.npz: array 'w': holds no numbers"):
        read_array_file(path, "a policy's file")
    np.savez(path, w=np.arange(3.0))
    with pytest.raises(BadInput, match="p.npz: array 'header' is missing"):
        read_array_file(path, "a policy's file")


BLOCK = {"kind": "convolution", "image": [6, 8], "channels": [3, 5], "kernel": 3, "stride": 1}


def test_a_convolution_has_the_sizes_of_its_images_and_no_memory():
    block = Convolution.model_validate(BLOCK)
    assert block.outputs(50) == 2 + 5 * 2 * 4 and block.memory == 0
    assert block.shapes(50) == {
        "kernels_0": (3, 1, 3, 3), "biases_0": (3,), "kernels_1": (5, 3, 3, 3), "biases_1": (5,),
    }  # fmt: skip
    assert block.widest(50) == 2 + 3 * 4 * 6
    assert (
        Convolution.model_validate({**BLOCK, "stride": 2, "channels": [4]}).outputs(48)
        == 4 * 2 * 3
    )
    with pytest.raises(ValueError, match="key 'image': 6 x 8 pixels of 47 numbers"):
        block.outputs(47)
    assert block.outputs(48) == 40


@pytest.mark.parametrize(
    ("changes", "fits"),
    [({"kernel": 6, "channels": [1]}, True), ({"kernel": 7, "channels": [1]}, False), ({"channels": [1] * 3}, False),
     ({"channels": [1] * 2, "kernel": 2, "stride": 2}, True), ({"channels": [1] * 3, "kernel": 2, "stride": 2}, False)],
)  # fmt: skip
def test_an_image_that_is_too_small_for_its_layers_is_refused(changes, fits):
    if fits:
        Convolution.model_validate({**BLOCK, **changes})
    else:
        with pytest.raises(ValueError, match="key 'kernel': an image of 6 x 8 is too small for"):
            Convolution.model_validate({**BLOCK, **changes})


def test_a_policy_with_a_memory_is_asked_by_who_keeps_it():
    remembering = SimpleNamespace(memory=4, source="p.npz")
    with pytest.raises(BadInput, match=r"p.npz: has a memory: Policy.acting\(worlds\) keeps it"):
        Policy.__call__(remembering, np.zeros(3))


def test_a_scenario_s_policy_is_there_and_of_its_kind_of_tasks(monkeypatch):
    with pytest.raises(BadInput, match="key 'policy': no policy is given"):
        policy_of(SimpleNamespace(policy=None))
    task = SimpleNamespace(kind="hold", name="mine")
    monkeypatch.setattr(learned_agents, "policy_of", lambda scenario: "policy")
    monkeypatch.setattr(learned_agents, "task_of_policy", lambda policy: task)
    scenario = SimpleNamespace(policy="p.npz")
    said = "key 'policy': 'p.npz' flies task 'mine', which is not of kind 'docking'"
    with pytest.raises(BadInput, match=said):
        learned_agents._of_kind("docking", scenario)
    assert learned_agents._of_kind("hold", scenario) == ("policy", task)


def test_what_is_judged_is_a_policy_a_task_or_a_baseline(tmp_path, monkeypatch):
    with pytest.raises(BadInput, match="no policy 'dokcing', nor task or baseline: did you mean"):
        subject_of("dokcing", None, "nominal")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.onnx").write_text("x")
    with pytest.raises(
        BadInput, match="mine.onnx: no policy of this suite, whose files end in .npz"
    ):
        subject_of("mine.onnx", None, "nominal")
    with pytest.raises(BadInput, match=r"evaluate script: --task is missing \(tasks: "):
        subject_of("script", None, "nominal")


MODULE = """import math

def one(world):
    return 2.0

def two(world):
    return (1.0, 2.0)

def whole(world):
    return 1

def three(values, world):
    return (values[0], 1.0, 2.0)

def beyond(world):
    return world.x[0, 55]

def root(world):
    return math.sqrt(-1.0 - world.x[0, 2]) + 1.0 / world.x[0, 2]
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    (tmp_path / "own_numbers.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))


REST = TermInputs.at_rest(3, 2)


@pytest.mark.parametrize(
    ("function", "is_tuple", "said"),
    [
        ("two", False, r"returns \(1.0, 2.0\); one float is expected"),
        ("whole", False, "returns 1; one float is expected"),
        ("beyond", False, "IndexError: index 55 is out of bounds"),
        ("one", True, r"returns 2.0; a tuple of floats is expected, such as \(1.0, 0.5\)"),
    ],
)
def test_a_user_s_function_returns_what_its_key_needs(mine, function, is_tuple, said):
    with pytest.raises(BadInput, match=f"key 'reward.x': 'own_numbers:{function}':? {said}"):
        UserTerm(f"own_numbers:{function}", "reward.x", REST, is_tuple=is_tuple)


def test_numbers_that_are_not_finite_in_a_trial_are_no_fault_of_a_function(mine):
    assert UserTerm("own_numbers:root", "reward.x", REST, is_tuple=False).size == 1


def test_a_user_s_action_has_the_numbers_of_its_kind(mine):
    with pytest.raises(BadInput, match="'own_numbers:three' returns 3 numbers; 4 are expected"):
        UserAction("own_numbers:three", 4, 2, REST)


@pytest.mark.parametrize("result", [1.0, (), (1, 2.0), [1.0], (True,), ("a",)])
def test_numbers_are_a_tuple_of_floats(result):
    assert numbers_of((1.0, 0.5), "f", "k") == 2
    with pytest.raises(BadInput, match="key 'k': 'f' returns"):
        numbers_of(result, "f", "k")


@pytest.mark.parametrize(("aircraft", "bodies"), [(1, 1), (3, 4)])
def test_a_platform_at_rest_has_a_body_more_than_aircraft_unless_it_is_one(aircraft, bodies):
    rest = TermInputs.at_rest(aircraft, 5)
    assert rest.x.shape == (bodies, 13) and rest.goal.shape == (19 + aircraft,)
    assert (rest.x[:, 6] == 1.0).all() and rest.goal[6] == 1.0
    assert np.count_nonzero(rest.x) == bodies and np.count_nonzero(rest.goal) == 1
    assert rest.rpm.shape == (aircraft, 4) and rest.action.shape == (5,)
