"""stable-baselines3: each algorithm learns a few steps, predicts, is saved and loaded again."""

from harness import devices, part

PROJECT = "DLR-RM+stable-baselines3"
PATHS = ["."]
PRELOAD = ["numpy", "gymnasium", "pandas", "matplotlib", "cloudpickle", "torch.utils.tensorboard"]


def _version():
    """The tree may hold Python files alone."""
    import builtins
    import io

    original = builtins.open
    builtins.open = lambda file, *a, **k: (
        io.StringIO("2.0.0") if str(file).endswith("version.txt") else original(file, *a, **k)
    )


def _learn(name, environment, steps, **options):
    _version()
    import stable_baselines3

    kind = getattr(stable_baselines3, name)
    model = kind(options.pop("policy", "MlpPolicy"), environment, device="cuda", seed=0, **options)
    model.learn(steps)
    model.predict(model.get_env().reset())
    model.save("model")
    again = kind.load("model", device="cuda", env=model.get_env())
    again.predict(model.get_env().reset())
    again.policy.save("policy")
    again.policy.load("policy", device="cuda")
    return devices(model.policy, again.policy)


@part
def a2c():
    return _learn("A2C", "CartPole-v1", 20)


@part
def ppo():
    return _learn(
        "PPO", "Pendulum-v1", 32, n_steps=16, batch_size=8, n_epochs=1, use_sde=True, target_kl=0.1, clip_range_vf=0.2
    )


@part
def dqn():
    return _learn("DQN", "CartPole-v1", 40, learning_starts=8, buffer_size=50, batch_size=4)


@part
def sac():
    return _learn("SAC", "Pendulum-v1", 24, learning_starts=8, buffer_size=50, batch_size=4, use_sde=True)


@part
def td3():
    return _learn("TD3", "Pendulum-v1", 24, learning_starts=8, buffer_size=50, batch_size=4)


@part
def sac_fixed_entropy():
    return _learn("SAC", "Pendulum-v1", 12, learning_starts=4, buffer_size=50, batch_size=4, ent_coef=0.1)


@part
def spaces():
    _version()
    from stable_baselines3.common.envs import SimpleMultiObsEnv

    return _learn(
        "PPO", SimpleMultiObsEnv(random_start=False), 16, policy="MultiInputPolicy", n_steps=8, batch_size=4, n_epochs=1
    )


@part
def dictionary_replay():
    _version()
    from stable_baselines3 import DQN, HerReplayBuffer
    from stable_baselines3.common.envs import BitFlippingEnv

    model = DQN(
        "MultiInputPolicy",
        BitFlippingEnv(n_bits=3),
        replay_buffer_class=HerReplayBuffer,
        device="cuda",
        learning_starts=16,
        batch_size=4,
        buffer_size=64,
    )
    model.learn(40)


@part
def distributions():
    _version()
    import torch
    from gymnasium import spaces
    from stable_baselines3.common.distributions import make_proba_distribution

    for space in (spaces.Discrete(3), spaces.MultiDiscrete([2, 3]), spaces.MultiBinary(3), spaces.Box(-1, 1, (2,))):
        distribution = make_proba_distribution(space)
        net = distribution.proba_distribution_net(latent_dim=4)
        net, log_std = net if isinstance(net, tuple) else (net, None)
        net.to("cuda")
        out = net(torch.randn(5, 4, device="cuda"))
        distribution.proba_distribution(out) if log_std is None else distribution.proba_distribution(
            out, log_std.to("cuda")
        )
        distribution.log_prob(distribution.sample())
