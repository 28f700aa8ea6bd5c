# SPDX-License-Identifier: BSD-3-Clause
"""Learning from recorded steps: losses as their papers have them, and experts that are recovered."""

import numpy as np
import pytest

pytest.importorskip("jax")

from iap_learning.training import bc, iql, td3bc
from iap_learning.training.libraries import jax, jnp
from iap_learning.training.networks import Layer, forward
from iap_learning.training.offline import NetworkShape, make_updates
from iap_learning.training.transitions import Transitions


def linear(weights, bias=0.0):
    """A network of one layer."""
    matrix = np.array(weights, np.float32)
    return (Layer(matrix, np.full(matrix.shape[1], bias, np.float32)),)


def steps(observations, actions, rewards, following, terminated):
    return Transitions.of(
        *(np.array(each, float) for each in (observations, actions, rewards, following)),
        np.array(terminated),
        source="test",
    )


# Two steps with one number in each; the second one ends its episode.
TWO = steps([[1.0], [2.0]], [[0.5], [-0.5]], [1.0, 3.0], [[2.0], [4.0]], [False, True])
POLICY = linear([[0.25]])  # pi(s) = s / 4
CRITICS = (linear([[1.0], [2.0]]), linear([[2.0], [1.0]]))  # s + 2 a, 2 s + a
IMPLICIT = iql.IQL(
    updates=1,
    batch=2,
    rate=0.1,
    largest_gradient=1.0,
    gamma=0.5,
    tau=0.1,
    expectile=0.8,
    beta=2.0,
    most=1.5,
)


def test_targets_are_those_of_the_lesser_critic_with_clipped_noise():
    target = td3bc.TD3BCNetworks(POLICY, CRITICS)
    noise = np.array([[0.8], [0.0]], np.float32)
    # pi(2) + 0.8 = 1.3 is clipped to 1: min(2 + 2, 4 + 1) = 4; nothing follows the second step.
    found = td3bc.target_value(target, TWO, noise, gamma=0.5)
    np.testing.assert_allclose(found, [1.0 + 0.5 * 4.0, 3.0])


def test_critics_learn_the_mean_squared_error_of_both():
    # Q_1 = (2, 1), Q_2 = (2.5, 3.5) against (3, 3): (1 + 4) / 2 + (0.25 + 0.25) / 2
    found = td3bc.critic_loss(CRITICS, TWO, np.array([3.0, 3.0], np.float32))
    assert float(found) == pytest.approx(2.75)


def test_the_policy_weighs_the_critic_against_cloning():
    # pi = (0.25, 0.5), Q_1 = (1.5, 3): lambda = alpha / 2.25; errors (0.25, 1) squared
    found, gradient = jax.jit(jax.value_and_grad(td3bc.actor_loss))(POLICY, CRITICS[0], TWO, 2.5)
    assert float(found) == pytest.approx(-2.5 + (0.0625 + 1.0) / 2)
    # dQ_1/dw = 2 s, with lambda held; d(pi - a)^2/dw = 2 (pi - a) s
    wanted = -2.5 / 2.25 * np.mean([2.0, 4.0]) + np.mean([2 * -0.25 * 1.0, 2 * 1.0 * 2.0])
    assert float(gradient[0].weights[0, 0]) == pytest.approx(wanted)


def test_the_weight_by_width_leaves_the_data_by_a_share_of_its_width():
    """Along a linear critic's gradient the loss is least where the policy is off the mean by alpha times the width."""
    width, alpha, gain = 0.2, 0.3, 7.0
    done = np.array([[width], [-width]])
    seen = np.ones((2, 1))
    data = steps(seen, done, [0.0, 0.0], seen, [True, True])
    critic = linear([[0.0], [gain]])
    # rms(pi - a)^2 = width^2 + off^2 with off = alpha rms(pi - a)
    off = alpha * width / np.sqrt(1.0 - alpha**2)
    slope = jax.jit(
        lambda policy: jax.grad(td3bc.actor_loss)(policy, critic, data, alpha, "width")
    )
    gradient, beside = slope(linear([[off]])), slope(linear([[0.5 * off]]))
    assert float(gradient[0].weights[0, 0]) == pytest.approx(0.0, abs=1e-6)
    assert float(beside[0].weights[0, 0]) < -0.01


def test_normalised_layers_do_not_see_how_large_their_input_is():
    rows = np.random.default_rng(0).normal(size=(5, 8))
    found = np.asarray(td3bc.normalised_relu(jnp.asarray(rows)))
    np.testing.assert_allclose(found, td3bc.normalised_relu(100.0 * rows + 3.0), atol=1e-3)
    assert (found >= 0.0).all()


def test_losses_of_implicit_q_learning_are_equations_5_to_7():
    nets = iql.IQLNetworks(POLICY, CRITICS, linear([[1.5]]))  # V = 1.5 s
    found = iql.losses(nets, CRITICS, TWO, IMPLICIT)
    # min Q = (2, 1), V = (1.5, 3): u = (0.5, -2)
    assert float(found["value"]) == pytest.approx((0.8 * 0.25 + 0.2 * 4.0) / 2)
    # r + gamma V(s') = (1 + 1.5, 3)
    errors = np.square([2.0 - 2.5, 1.0 - 3.0, 2.5 - 2.5, 3.5 - 3.0])
    assert float(found["error"]) == pytest.approx(errors[:2].mean() + errors[2:].mean())
    weights = np.minimum(np.exp([1.0, -4.0]), 1.5)
    wanted = np.mean(weights * np.square([0.25 - 0.5, 0.5 + 0.5]))
    assert float(found["policy"]) == pytest.approx(wanted, rel=1e-5)


def test_each_loss_of_implicit_q_learning_moves_its_own_network_alone():
    settings = IMPLICIT.model_copy(update={"most": 9.0})
    nets = iql.IQLNetworks(POLICY, CRITICS, linear([[1.5]]))
    for name, own in (("value", "state_value"), ("error", "critics"), ("policy", "actor")):
        gradient = jax.grad(lambda n, key=name: iql.losses(n, CRITICS, TWO, settings)[key])(nets)
        for part in nets._fields:
            moves = any(
                bool(jnp.any(each != 0)) for each in jax.tree.leaves(getattr(gradient, part))
            )
            assert moves == (part == own), (name, part)


def shape():
    return NetworkShape(np.random.default_rng(0), 3, 2, (32,), (32, 32))


def demonstrated(count=2000):
    """Steps of a linear expert."""
    rng = np.random.default_rng(1)
    gains = np.array([[0.5, -0.2], [0.1, 0.3], [-0.4, 0.2]])
    seen = rng.uniform(-1.0, 1.0, (count, 3))
    done = seen @ gains
    rewards = -np.square(done).sum(axis=1)
    return gains, steps(seen, done, rewards, rng.uniform(-1, 1, (count, 3)), np.ones(count, bool))


def learned(method, settings):
    _, data = demonstrated()
    state, updates = method.begin(settings, shape()), make_updates(method.make_update(settings))
    rows = np.random.default_rng(2).integers(2000, size=(settings.updates, settings.batch))
    state, report = updates(state, jax.device_put(data), rows, jax.random.PRNGKey(0))
    assert all(np.isfinite(float(each)) for each in report.values())
    return jax.device_get(state)


def error_of(actor):
    gains, _ = demonstrated()
    seen = np.random.default_rng(9).uniform(-0.9, 0.9, (200, 3)).astype(np.float32)
    return np.abs(forward(actor, seen) - seen @ gains).mean()


def test_cloning_recovers_a_linear_expert():
    settings = bc.BC(updates=2000, batch=128, rate=0.003, largest_gradient=10.0)
    assert error_of(learned(bc, settings).actor) < 0.01


def actor_critic(**changes):
    """Settings of TD3+BC; without a weight of the critic unless one is given."""
    settings = {
        "updates": 3000, "batch": 128, "actor_rate": 0.003, "critic_rate": 0.003, "largest_gradient": 10.0,
        "gamma": 0.9, "tau": 0.01, "noise": 0.1, "noise_most": 0.2, "delay": 2, "alpha": 0.0, "weight": "value",
        "layer_norm": True, "refined": 0.0, "refined_alpha": 1.0,
    }  # fmt: skip
    return td3bc.TD3BC(**{**settings, **changes})


def test_the_policy_moves_at_each_delayed_update_and_alone_at_the_end():
    """Ten updates with a delay of three; critics stay in the last four, targets follow when the policy moves."""
    settings = actor_critic(updates=10, tau=0.25, delay=3, alpha=1.0, refined=0.4)
    state = td3bc.begin(settings, NetworkShape(np.random.default_rng(0), 1, 1, (4,), (4,)))
    update = jax.jit(td3bc.make_update(settings))

    def are_equal(one, other):
        pairs = zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
        return all(np.array_equal(a, b) for a, b in pairs)

    for done in range(10):
        old = state
        state, report = update(old, TWO, jax.random.key(done))
        moves = done % 3 == 0
        assert are_equal(state.nets.actor, old.nets.actor) == (not moves)
        assert are_equal(state.nets.critics, old.nets.critics) == (done >= 6)
        assert are_equal(state.target, old.target) == (not moves)
        if moves:
            for slow, fast, before in zip(
                *map(jax.tree.leaves, (state.target, state.nets, old.target)), strict=True
            ):
                np.testing.assert_allclose(slow, 0.75 * before + 0.25 * fast, atol=1e-6)
        assert np.isfinite(report["error"])


def test_noise_of_the_targets_is_as_large_as_asked_and_no_larger_than_its_bound():
    """With critics that are the action, the mean target is r + gamma E(min) and shows the noise's size."""
    many = steps(
        np.zeros((4000, 1)),
        np.zeros((4000, 1)),
        np.zeros(4000),
        np.zeros((4000, 1)),
        np.zeros(4000, bool),
    )
    doing = linear([[0.0], [1.0]]), linear([[0.0], [-1.0]])
    nets = td3bc.TD3BCNetworks(linear([[0.0]]), doing)
    for noise, most, size in ((0.1, 9.0, 0.1 * np.sqrt(2.0 / np.pi)), (50.0, 0.2, 0.2)):
        settings = actor_critic(noise=noise, noise_most=most)
        state = td3bc.begin(settings, NetworkShape(np.random.default_rng(0), 1, 1, (), ()))
        state = state._replace(target=nets)
        update = td3bc.make_update(settings)
        value = jax.jit(lambda *given, of=update: of(*given)[1]["value"])
        assert float(value(state, many, jax.random.key(1))) == pytest.approx(-0.9 * size, rel=0.05)


@pytest.mark.slow
def test_without_a_critic_td3_bc_clones():
    settings = actor_critic()
    assert error_of(learned(td3bc, settings).nets.actor) < 0.02


@pytest.mark.slow
def test_implicit_q_learning_finds_the_better_of_two_experts():
    rng = np.random.default_rng(3)
    seen = rng.uniform(-1.0, 1.0, (2000, 3))
    is_good = rng.random(2000) < 0.5
    done = np.where(is_good[:, None], 0.5, -0.5) * np.ones((2000, 2))
    data = steps(seen, done, is_good.astype(float), seen, np.ones(2000, bool))
    settings = iql.IQL(
        updates=1500,
        batch=128,
        rate=0.003,
        largest_gradient=10.0,
        gamma=0.9,
        tau=0.05,
        expectile=0.7,
        beta=5.0,
        most=100.0,
    )
    state, updates = iql.begin(settings, shape()), make_updates(iql.make_update(settings))
    rows = rng.integers(2000, size=(1500, 128))
    state, _ = updates(state, jax.device_put(data), rows, jax.random.PRNGKey(0))
    means = forward(jax.device_get(state).nets.actor, seen[:100].astype(np.float32))
    assert means.mean() > 0.35  # cloning would give 0


def test_what_was_recorded_has_to_be_numbers():
    from iap_description.errors import BadInput

    with pytest.raises(BadInput, match="'rewards': not all numbers are finite"):
        steps([[1.0]], [[0.0]], [np.nan], [[1.0]], [True])
