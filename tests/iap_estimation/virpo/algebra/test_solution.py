# SPDX-License-Identifier: BSD-3-Clause
"""Normal equations and their solution, with and without blocks that go first."""

import numpy as np
import pytest
from jacobians import some_states

from iap_estimation.virpo.algebra.normal_equations import accumulate, run
from iap_estimation.virpo.algebra.solution import solve

NONE = np.zeros((0, 9), dtype=np.int64)


def test_factors_add_up_and_are_solved_and_damped():
    rng = np.random.default_rng(0)
    J, r = rng.normal(size=(20, 6)), rng.normal(size=20)
    H, g, places = np.zeros((8, 8)), np.zeros(8), np.empty(6, dtype=np.int64)
    run(1, 3, places, 0)
    run(5, 3, places, 3)
    accumulate(H, g, places, J, r)
    assert np.array_equal(H, np.tril(H)) and not H[4].any() and not g[4]
    inner = H[np.ix_(places, places)]
    step, root = solve(inner.copy(), g[places], 0.0, NONE)
    assert np.allclose(step, -np.linalg.lstsq(J, r, rcond=None)[0])
    assert np.allclose(root @ root.T, J.T @ J)
    damped, _ = solve(inner, g[places], 0.5, NONE)
    full = J.T @ J + 0.5 * np.diag(np.diag(J.T @ J))
    assert np.allclose(damped, -np.linalg.solve(full, J.T @ r))


def window_information(shape: tuple, is_dense: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """H, g and the early blocks of a window whose motions touch their neighbours only, or all."""
    states = some_states(shape[0], shape[1], neighbours=shape[2], centre=shape[3])
    rng, stride = np.random.default_rng(1), states.stride
    J = rng.normal(size=(3 * states.size, states.size))
    if not is_dense:  # a row is of one pair of keyframes, and of the poses and alignments
        of_motion = np.zeros(states.size, dtype=bool)
        of_motion[states.inner_motions()] = True
        for k, row in enumerate(J):
            begin = (k % (shape[0] - 1)) * stride
            there = np.arange(states.size)
            row[of_motion & ((there < begin) | (there >= begin + 2 * stride))] = 0.0
    J *= 10.0 ** rng.uniform(-1, 1, states.size)
    return J.T @ J, J.T @ rng.normal(size=len(J)), states.inner_motions()


@pytest.mark.parametrize("is_dense", [False, True])
@pytest.mark.parametrize(
    "shape", [(5, 1, 0, False), (4, 3, 0, True), (4, 1, 2, False), (2, 1, 0, False)]
)
@pytest.mark.parametrize("damping", [0.0, 0.1])
def test_blocks_that_go_first_change_neither_step_nor_marginals(shape, is_dense, damping):
    H, g, early = window_information(shape, is_dense)
    full = H + damping * np.diag(np.diag(H))
    step, root = solve(np.tril(H), g.copy(), damping, early)
    assert np.allclose(step, -np.linalg.solve(full, g), rtol=1e-8)
    late = np.delete(np.arange(len(g)), early.ravel())
    marginal = np.linalg.inv(full)[np.ix_(late, late)]
    assert np.allclose(np.linalg.inv(root @ root.T), marginal, rtol=1e-6, atol=1e-12)
    assert len(late) == len(g) - 9 * shape[1] * max(0, shape[0] - 2)


@pytest.mark.parametrize("early", [NONE, np.array([[1]])])
def test_equations_without_a_solution_are_refused(early):
    with pytest.raises(np.linalg.LinAlgError):
        solve(np.diag([1.0, -1e-3]), np.ones(2), 0.0, early)
