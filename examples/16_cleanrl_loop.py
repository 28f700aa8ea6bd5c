# SPDX-License-Identifier: BSD-3-Clause
"""Training by PyTorch: the loop of CleanRL's ppo_continuous_action, which is one file to be changed.

You see how many episodes held their place. Run it with: python examples/16_cleanrl_loop.py
"""

import sys

import gymnasium
import numpy as np

try:
    import torch
except ModuleNotFoundError as error:
    print(f"this example needs {error.name}: pip install torch", file=sys.stderr)
    raise SystemExit(2) from None
import iap_learning  # noqa: F401 - gymnasium knows the tasks from here on

STEPS, WORLDS, HORIZON, GAMMA, LAM = 4_000_000, 256, 64, 0.98, 0.95
torch.manual_seed(0)
env = gymnasium.make_vec("iap/Hold-v0", WORLDS, vectorization_mode="vector_entry_point")
size, count = env.single_observation_space.shape[0], env.single_action_space.shape[0]
log_std, tanh = torch.nn.Parameter(torch.full((count,), -2.3)), torch.nn.Tanh()
hidden = [(torch.nn.Linear(size, 64), tanh, torch.nn.Linear(64, 64), tanh) for _ in range(2)]
actor = torch.nn.Sequential(*hidden[0], torch.nn.Linear(64, count))
critic = torch.nn.Sequential(*hidden[1], torch.nn.Linear(64, 1))
parts = [*actor.parameters(), *critic.parameters(), log_std]
optimiser, state = torch.optim.Adam(parts, lr=1e-3, eps=1e-5), torch.tensor(env.reset(seed=0)[0])
for number in range(8 if "--quick" in sys.argv else STEPS // (HORIZON * WORLDS)):
    rows, successes = [], []
    for _ in range(HORIZON):
        with torch.no_grad():
            density, value = torch.distributions.Normal(actor(state), log_std.exp()), critic(state)
            action = density.sample()
            following, reward, terminated, truncated, info = env.step(action.numpy())
            last, over = following.copy(), terminated | truncated
            for i in np.flatnonzero(over):
                last[i] = info["final_obs"][i]  # the old episode's, not the next one's first
                successes.append(info["final_info"]["success"][i])
            after = critic(torch.tensor(last))[:, 0] * torch.tensor(~terminated)
        gain = 0.1 * torch.tensor(reward).float() + GAMMA * after - value[:, 0]
        logp = density.log_prob(action).sum(-1)
        rows.append((state, action, logp, value[:, 0], gain, torch.tensor(~over)))
        state = torch.tensor(following)
    observed, acted, old, values = (torch.cat([row[k] for row in rows]) for k in range(4))
    gains, later = [], torch.zeros(WORLDS)
    for *_, gain, goes_on in reversed(rows):
        gains.insert(0, later := gain + GAMMA * LAM * later * goes_on)
    for part in [each for _ in range(5) for each in torch.randperm(len(old)).split(2048)]:
        density = torch.distributions.Normal(actor(observed[part]), log_std.exp())
        ratio = (density.log_prob(acted[part]).sum(-1) - old[part]).exp()
        gain = torch.cat(gains)[part]
        error = (critic(observed[part])[:, 0] - gain - values[part]).square().mean()
        gain = (gain - gain.mean()) / (gain.std() + 1e-8)
        loss = 0.5 * error - torch.min(gain * ratio, gain * ratio.clamp(0.8, 1.2)).mean()
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parts, 1.0)
        optimiser.step()
    print(f"{(number + 1) * HORIZON * WORLDS} steps: {sum(successes)} of {len(successes)} held")
