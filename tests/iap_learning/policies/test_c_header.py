# SPDX-License-Identifier: BSD-3-Clause
"""Policies as C: what a compiler makes of them acts as double precision does, and needs nothing but libm."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from made_up_policies import observations, policy

from iap_description.errors import BadInput
from iap_learning.policies.c_header import c_header, exact_actions, exact_flight
from iap_learning.policies.exports import export
from iap_learning.policies.policy import Policy, shipped_policies

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic")
MAIN = """
#include <stdio.h>
#include "policy.h"
int main(void)
{
    float in[POLICY_INPUTS], out[POLICY_OUTPUTS];
    if (policy_test() > 1e-5f)
        return 3;
    while (fread(in, sizeof in, 1, stdin) == 1) {
        int fault = policy_act(in, out);
        fwrite(out, sizeof out, 1, stdout);
        fprintf(stderr, "%d", fault);
    }
    return 0;
}
"""

MAIN_WITH_MEMORY = (
    MAIN.replace("int main", "static policy_state state;\nint main")
    .replace("policy_test()", "policy_test(&state)")
    .replace("policy_act(", "policy_act(&state, ")
)


def acted(folder: Path, flown: Policy, seen: np.ndarray, *flags: str) -> tuple[np.ndarray, str]:
    """Actions of the compiled policy, and what it returned for each observation."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    export(flown, folder / "policy.h")
    (folder / "main.c").write_text(MAIN_WITH_MEMORY if flown.header.blocks else MAIN)
    line = [compiler, *STRICT, *flags, "main.c", "-o", "run", "-lm"]
    subprocess.run(line, cwd=folder, check=True)
    done = subprocess.run(
        [folder / "run"], input=seen.astype(np.float32).tobytes(), capture_output=True, check=True
    )
    return np.frombuffer(done.stdout, np.float32).reshape(len(seen), -1), done.stderr.decode()


@pytest.mark.parametrize("name", ["docking_nominal", "navigate", "wall_push"])
def test_a_compiled_policy_acts_as_double_precision_does(tmp_path: Path, name: str) -> None:
    assert name in shipped_policies()
    flown = Policy.load(name)
    deviates = np.random.default_rng(1).standard_normal((1000, len(flown.mean)))
    seen = (flown.mean + flown.deviation * deviates).astype(np.float32)
    actions, faults = acted(tmp_path, flown, seen, "-O2")
    np.testing.assert_allclose(actions, exact_actions(flown, seen), atol=1e-6)
    assert set(faults) == {"0"}
    np.testing.assert_allclose(flown(seen), exact_actions(flown, seen), atol=2e-6)


@pytest.mark.parametrize("name", ["docking_depth", "push_object"])
def test_a_compiled_policy_with_a_memory_acts_as_double_precision_does_over_a_flight(
    tmp_path: Path, name: str
) -> None:
    """For 300 steps one after the other, in which errors of the memory would add up."""
    flown = Policy.load(name)
    deviates = np.random.default_rng(2).standard_normal((300, len(flown.mean)))
    seen = (flown.mean + flown.deviation * deviates).astype(np.float32)
    actions, faults = acted(tmp_path, flown, seen, "-O2")
    exact = exact_flight(flown, seen)
    np.testing.assert_allclose(actions, exact, atol=1e-5)
    assert set(faults) == {"0"} and np.ptp(exact, axis=0).min() > 0.1
    assert np.abs(exact - exact_actions(flown, seen)).max() > 0.1  # the memory matters


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_an_observation_that_is_no_number_is_said_and_gives_zeros(
    tmp_path: Path, value: float
) -> None:
    seen = observations(3)
    seen[1, 2] = value
    actions, faults = acted(tmp_path, policy(), seen, "-Os")
    assert faults == "010"
    assert (actions[1] == 0.0).all() and (actions[0] != 0.0).any()


def test_an_object_with_a_policy_needs_the_hyperbolic_tangent_alone(tmp_path: Path) -> None:
    compiler, nm = shutil.which("gcc"), shutil.which("nm")
    if compiler is None or nm is None:
        pytest.skip("no gcc")
    export(policy(), tmp_path / "policy.h")
    user = '#include "policy.h"\nint act(const float *in, float *out) { return policy_act(in, out); }\n'
    (tmp_path / "user.c").write_text(user)
    line = [compiler, *STRICT, "-O2", "-c", "user.c", "-o", "user.o"]
    subprocess.run(line, cwd=tmp_path, check=True)
    names = subprocess.run(
        [nm, "-u", "user.o"], cwd=tmp_path, capture_output=True, text=True
    ).stdout
    assert names.split() == ["U", "tanhf"]


def test_the_comment_says_what_the_numbers_mean_and_equal_policies_give_equal_texts() -> None:
    text = c_header(policy())
    assert text == c_header(policy()) != c_header(policy(1))
    for name, size, _ in policy().header.observation:
        assert f" *   {name}: {size}, " in text
    assert policy().digest in text and text.count("/*") == text.count("*/")


def test_a_file_of_an_unknown_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"policy\.tflite: a file's name ends in \.onnx or \.h"):
        export(policy(), tmp_path / "policy.tflite")
