"""cleanrl: its classic-control scripts, each for a few dozen steps, with evaluation."""

from pathlib import Path

from harness import part, run_script, stub

PROJECT = "vwxyzjn+cleanrl"
PATHS = [".", "cleanrl"]
PRELOAD = ["numpy", "gymnasium", "tyro"]


class _Writer:
    def __init__(self, folder, **options):
        Path(folder).mkdir(parents=True, exist_ok=True)

    def __getattr__(self, name):
        return lambda *arguments, **options: None


def _script(name, *arguments):
    import cleanrl_utils
    import gymnasium

    original = gymnasium.wrappers.TransformObservation
    gymnasium.wrappers.TransformObservation = lambda env, f, space=None: original(
        env, f, space or env.observation_space
    )  # of an older gymnasium
    make = gymnasium.make
    gymnasium.make = lambda name, **options: make(name, max_episode_steps=5)  # short games: a saved model plays ten
    gymnasium.wrappers.RecordVideo = lambda env, *arguments, **options: env
    stub("torch.utils.tensorboard", SummaryWriter=_Writer)
    root = Path(next(iter(cleanrl_utils.__path__))).parent
    run_script(root / "cleanrl" / f"{name}.py", arguments)


_OFF = ["--learning-starts=16", "--batch-size=4", "--total-timesteps=40", "--buffer-size=64"]


@part
def ppo():
    _script("ppo", "--total-timesteps=32", "--num-envs=2", "--num-steps=8", "--num-minibatches=2", "--update-epochs=1")


@part
def ppo_continuous():
    _script(
        "ppo_continuous_action",
        "--env-id=Pendulum-v1",
        "--total-timesteps=16",
        "--num-steps=8",
        "--num-minibatches=2",
        "--update-epochs=1",
        "--save-model",
    )


@part
def rpo():
    _script(
        "rpo_continuous_action",
        "--env-id=Pendulum-v1",
        "--total-timesteps=16",
        "--num-steps=8",
        "--num-minibatches=2",
        "--update-epochs=1",
    )


@part
def dqn():
    _script("dqn", *_OFF, "--train-frequency=2", "--target-network-frequency=8", "--save-model")


@part
def c51():
    _script("c51", *_OFF, "--train-frequency=2", "--target-network-frequency=8", "--n-atoms=11", "--save-model")


@part
def ddpg():
    _script("ddpg_continuous_action", *_OFF, "--env-id=Pendulum-v1", "--save-model")


@part
def td3():
    _script("td3_continuous_action", *_OFF, "--env-id=Pendulum-v1", "--save-model")


@part
def sac():
    _script("sac_continuous_action", *_OFF, "--env-id=Pendulum-v1")


@part
def pqn():
    _script("pqn", "--total-timesteps=32", "--num-envs=2", "--num-steps=8", "--num-minibatches=2", "--update-epochs=1")
