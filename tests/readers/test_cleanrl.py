"""TensorBoard folders named as CleanRL's scripts name them: f"{env_id}__{exp_name}__{seed}__{int(time.time())}"."""

import numpy as np
import pytest

from event_files import event_writer
from refusals import refused
from xcurves import readers


def log(root, env, algorithm, seed, began=1_700_000_000):
    with event_writer(root / f"{env}__{algorithm}__{seed}__{began}") as writer:
        writer.add_text("hyperparameters", "|param|value|")
        for i in range(4):
            writer.add_scalar("charts/episodic_return", seed * i, 100 * i)
            writer.add_scalar("charts/SPS", 10, 100 * i)


@pytest.mark.slow
def test_names_of_folders_become_task_algorithm_and_run(tmp_path):
    for env in ("Hopper-v4", "My__Env"):
        for algorithm in ("ppo_continuous_action", "sac"):
            for seed in (1, 2, 3):
                log(tmp_path, env, algorithm, seed)
    frame = readers.read(tmp_path, source="cleanrl")
    scores = frame[frame.tag == "charts/episodic_return"]
    # both algorithms have the same scores here
    with pytest.warns(UserWarning, match="Were data copied"):
        returns = scores.curves.to_dataarray("value", training="step", extra="task")
    assert returns.task.values.tolist() == ["Hopper-v4", "My__Env"]
    assert returns.algorithm.values.tolist() == ["ppo_continuous_action", "sac"]
    np.testing.assert_array_equal(returns, np.broadcast_to(np.outer([1, 2, 3], range(4)), returns.shape))
    assert (returns.curves.randomized_anova(confidence_level=0.5).n_levels == 4).all()


@pytest.mark.slow
def test_a_seed_that_was_run_twice_is_refused(tmp_path):
    log(tmp_path, "Hopper-v4", "sac", 1)
    log(tmp_path, "Hopper-v4", "sac", 1, 1_800_000_000)
    with refused(
        "path",
        cure="Remove one of them",
        names=r"sac__1__1700000000 and .*sac__1__1800000000 in .* are one seed run twice",
    ):
        readers.read(tmp_path, source="cleanrl")


def test_another_name_is_refused(tmp_path):
    log(tmp_path, "Hopper-v4", "sac", 1)
    (tmp_path / "Hopper-v4__sac__1__1700000000").rename(tmp_path / "sac-1")
    with pytest.raises(
        FileNotFoundError,
        match=r"holds no event files in folders env__exp__seed__time\. Check",
    ):
        readers.read(tmp_path, source="cleanrl")
