"""Which end of scores is better: the same by the shell and by Python, of all names that are known."""

import re
from inspect import signature
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import xcurves
from refusals import refused
from xcurves.core import direction
from xcurves.core.refusal import call


def names_of(text):
    """Return the names of a text."""
    return text.split()


LOWER = names_of(
    """
    loss error err merror logloss mlogloss mape smape rmse rmsle mae mse nll ce xent cross_entropy
    bits_per_byte bits_per_char bpb bpc perplexity ppl brier brier_score ece crps eer fid kid lpips hinge
    deviance regret edit_distance wer cer fpr fnr latency time duration cost distance violations kl
    kl_divergence rank gap val_loss eval/loss trainLoss train_loss_epoch loss_val test.error testErr Val-Loss
    valid/cross_entropy val/bits_per_byte negative_log_likelihood neg_accuracy negative_elbo mean_rank
    optimality_gap wall_time latency_p99 p95 latency_ms time_s error_rate error_pct loss_ema rmse_cv wer@5
    top-1_error CELoss logLoss valBPB mean_fit_time total_cost average_distance loss_total_mean time_per_step
    fid_score err5 loss_1 1-accuracy one_minus_auc minus_return cost_per_success seconds_per_step val_loss2
    elapsed_s minutes gpu_hours t_s wall_s train_hours time_total_s ms secs
    inaccuracy val_inaccuracy imprecision incorrect incorrect_rate unsolved_rate failure_rate false_negative_rate
    FalsePositiveRate misclassification_rate constraint_violation JensenShannonDivergence davies_bouldin_score
    ContinuousRankedProbabilityScore energy_score interval_score winkler_score valid_0's_l2 l1 poisson-nloglik
    val_sparse_categorical_crossentropy binary_crossentropy logcosh val_huber regr.msle regr.medae regr.rrse
    classif.ce classif.mbrier classif.fdr mase error@0.7 logloss_weighted hamming_loss max_error mean_pinball_loss
    root_mean_squared_error coverage_error mean_tweedie_deviance zero_one_loss word_perplexity fairness_gap
    """
)
HIGHER = names_of(
    """
    accuracy acc auc f1 r2 return reward score success likelihood elbo correlation saving savings saved
    reduction improvement survival lifetime uptime throughput fps val_acc test/accuracy AverageEpRet
    episodic_return neg_log_loss neg_mean_squared_error mean_test_neg_log_loss log_likelihood time_score
    cost_saving cost_savings rank_correlation error_reduction time_saved success_rate recall@10 F1Score valAUC
    mean_reciprocal_rank test_score acc1 top-5_acc mAP50 minus_loss return_per_episode 1-nn_accuracy 1_acc
    neg_inaccuracy d2_brier_score f1_macro recall_micro precision_weighted acc_norm brier_skill_score
    neg_root_mean_squared_log_error adjusted_rand_score matthews_correlation eval/mean_reward rollout/ep_rew_mean
    env_runners/episode_return_mean charts/episodic_return human_normalized_score roc_auc_survival pr_auc
    """
)
UNKNOWN = names_of(
    """
    loss_scale explained_variance survival_time episode_time alive_time up_time episode_length alive_duration
    survival_duration lossless value y metric learning_rate total rank_of_matrix
    gap_filled distance_travelled costly timeline uptime_seconds lifetime_duration
    survival_minutes working_hours steps_per_sec min total h
    brier_survival input information unreliability true_negative_rate negative_predictive_value ep_len_mean
    neg_negative_likelihood_ratio explained_variance value_0 objective_value fitness memory_mb path_length
    error_score loss_score cost_return tokens_per_second samples_per_seconds d2_log_loss_score
    """
)


def named(form, names):
    """Return what names in some form say."""
    return {name: direction.says_higher(form.format(name)) for name in names}


def test_names_say_which_end_is_better():
    assert named("{}", LOWER) == dict.fromkeys(LOWER, False)
    assert named("{}", HIGHER) == dict.fromkeys(HIGHER, True)
    unknown = [*UNKNOWN, "", None, 3]
    assert named("{}", unknown) == dict.fromkeys(unknown)


@pytest.mark.parametrize("form", ["{}", "val_{}", "eval/{}", "{}_mean", "{}@3", "{}.p99"])
def test_what_only_says_of_which_data_changes_nothing(form):
    assert named(form, direction.LOW) == dict.fromkeys(direction.LOW, False)
    assert named(form, direction.HIGH) == dict.fromkeys(direction.HIGH, True)


@pytest.mark.parametrize("form", ["neg_{}", "negative_{}", "mean_test_neg_{}"])
def test_a_negative_is_turned(form):
    assert named(form, direction.LOW) == dict.fromkeys(direction.LOW, True)
    assert named(form, direction.HIGH) == dict.fromkeys(direction.HIGH, False)


def test_no_name_is_in_both_tables():
    assert not direction.LOW & direction.HIGH


def test_no_other_module_has_a_list_of_losses():
    package = Path(xcurves.__file__).parent
    rare = re.compile(r"\b(?:logloss|perplexity|ppl|rmsle|nll|bpb|mlogloss|smape)\b")
    having = [
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if any(len(set(rare.findall(line))) > 1 for line in path.read_text(encoding="utf-8").splitlines())
    ]
    assert having == ["core/direction.py"]


# --- the rule: option, attrs, name, label


def scores(name=None, *, metric=None, **attrs):
    """Return scores of two algorithms, "good" about 0.19 and "bad" about 0.9."""
    noise = np.random.default_rng(0).normal(0, 0.02, (2, 6, 3))
    made = xr.DataArray(
        noise + np.array([0.19, 0.90])[:, np.newaxis, np.newaxis],
        {"algorithm": ["good", "bad"], "run": range(6), "training": [1, 2, 3]},
        ("algorithm", "run", "training"),
        name=name,
        attrs=attrs,
    )
    if metric is not None:
        made = made.assign_coords(metric=metric)
    return made


@pytest.mark.parametrize(
    ("made", "given", "higher", "source"),
    [
        (scores("val_loss", higher_is_better=0), True, True, ""),
        (scores("val_loss", higher_is_better=1), None, True, direction.ATTRS),
        (scores("accuracy", higher_is_better=0), None, False, direction.ATTRS),
        (scores("val_loss", metric="accuracy"), None, False, "the name val_loss"),
        (
            scores("y", long_name="validation loss"),
            None,
            False,
            "the name validation loss",
        ),
        (scores("value", metric="val_loss"), None, False, "metric val_loss"),
        (scores(None, metric="acc"), None, True, "metric acc"),
        # "score" may be anything: its metric says more
        (scores("score", metric="val_loss"), None, False, "metric val_loss"),
        (scores("score"), None, True, "the name score"),
        (scores("value"), None, True, None),
        (scores(None), None, True, None),
        # a name that nobody gave says nothing, one that was given since then does
        (scores("score", made_name="score"), None, True, None),
        (scores("loss", made_name="score"), None, False, "the name loss"),
        (scores("score", made_name="score", metric="val_loss"), None, False, "metric val_loss"),
    ],
)
def test_what_says_the_direction(made, given, higher, source):
    assert direction.find(made, given) == (higher, source)
    # also along a dim of one label
    if "metric" in made.coords:
        assert direction.find(made.expand_dims("metric"), given) == (higher, source)


def test_scores_that_nobody_named_are_said_to_be_so_and_stay_so_as_a_table():
    for made in (scores(None), scores("score", made_name="score")):
        frame = made.curves.to_frame()
        assert direction.find(frame.curves.to_dataarray()).source is None
        said = made.curves.pairwise(rng=0).attrs["history"]
        assert "higher is taken as better: scores have no name that says" in said


@pytest.mark.parametrize("value", ["no", 2, -1])
def test_the_attr_is_0_or_1(value):
    with refused("curves", value, names=r"curves.attrs\['higher_is_better'\] must be 1 or 0"):
        direction.find(scores("y", higher_is_better=value))


def test_the_option_is_true_or_false():
    with refused("higher_is_better", 1, names="must be True or False", kind=xcurves.WrongType):
        scores("y").curves.pairwise(higher_is_better=1)


def of_metrics(*names, name=None):
    """Return scores along a dim of metrics, in each of which "good" is the lower one."""
    each = [scores() + number for number in range(len(names))]
    return xr.concat(each, "metric").assign_coords(metric=list(names)).rename(name)


def test_metrics_that_agree_have_one_direction():
    assert direction.find(of_metrics("val_loss", "mse")) == (False, "metric val_loss")
    assert direction.find(of_metrics("acc", "f1")).higher
    # of an unknown one the name of the scores decides
    assert not direction.find(of_metrics("a", "mse", name="error")).higher
    assert direction.find(of_metrics("a", "b")) == (True, None)


@pytest.mark.parametrize("names", [("acc", "val_loss"), ("a", "val_loss")])
@pytest.mark.parametrize(
    "method",
    [
        lambda curves: curves.curves.across_tasks(task="metric", rng=0),
        lambda curves: curves.curves.pairwise(rng=0),
        lambda curves: curves.curves.analyze(n_resamples=99, rng=0),
    ],
)
def test_metrics_of_both_directions_are_refused_and_the_cure_works(names, method):
    curves = of_metrics(*names)
    with refused("curves", cure=call(".sel", metric="val_loss"), names="of which lower is better") as caught:
        method(curves)
    (cure,) = caught.value.cure.calls
    selected = eval(f"curves{cure}", {"curves": curves})  # the cure as it is printed
    assert selected.curves.pairwise(rng=0).attrs["higher_is_better"] == 0


def test_a_coordinate_that_names_the_metric_of_each_task_is_refused_with_its_cure():
    curves = of_metrics("a", "b").rename(metric="task")
    curves = curves.assign_coords(metric=("task", ["acc", "mse"]))
    with refused("curves", cure="Select one: ") as caught:
        curves.curves.across_tasks(rng=0)
    (cure,) = caught.value.cure.calls
    selected = eval(f"curves{cure}", {"curves": curves})  # the cure as it is printed
    assert selected["metric"].values.tolist() == ["mse"]
    assert not direction.find(selected).higher


# --- unknown: said once


def test_an_unknown_direction_is_one_detail_and_stands_in_history():
    found = scores("value").curves.pairwise(rng=0)
    said = "Higher is taken as better: the name value does not say (else: higher_is_better=False)."
    assert found.curves.summary().count("taken as better") == 1
    assert said in found.curves.summary()
    assert "taken as better" not in found.curves.summary().split("\n")[0]
    assert found.attrs["history"].count("taken as better") == 1
    curves = scores("value")
    analysis = curves.curves.analyze(include=["pairwise"], rng=0)
    (line,) = (each for each in analysis.curves.summary().split("\n") if "taken as better" in each)
    assert line.startswith("Higher is taken as better: the name value does not say")
    cure = re.search(r"\(else: (.*)\)\.$", line)[1]
    exec(cure, {"curves": curves})  # the cure as it is printed
    other = curves.curves.analyze(include=["pairwise"], rng=0)
    assert "taken as better" not in other.curves.summary()
    assert re.search("has the lowe(r|st) mean value", other.curves.summary())


@pytest.mark.parametrize(
    "made",
    [scores("accuracy"), scores("val_loss"), scores("value", higher_is_better=1)],
)
def test_a_known_direction_is_not_said_to_be_assumed(made):
    found = made.curves.pairwise(rng=0)
    assert "taken as better" not in found.curves.summary() + found.attrs["history"]


def test_where_nothing_is_better_no_direction_is_assumed():
    made = scores("value")
    of_anova = made.curves.randomized_anova(rng=0)
    assert "taken as better" not in of_anova.curves.summary() + of_anova.attrs["history"]


def test_a_contrast_says_who_is_better_and_that_the_direction_is_assumed():
    of_contrast = scores("value").curves.contrast({"good": 1, "bad": -1}, rng=0)
    assert of_contrast.curves.summary().count("taken as better") == 1


def test_normalized_scores_are_better_the_higher():
    losses = scores("val_loss")
    scaled = losses.curves.normalize(low=2.0, high=0.0)
    assert scaled.attrs["higher_is_better"] == 1
    assert scaled.curves.pairwise(rng=0).curves.summary().startswith("good has the higher")
    # its worst is 1, as given
    kept = losses.curves.normalize(low=0.0, high=2.0)
    assert kept.curves.pairwise(rng=0).curves.summary().startswith("good has the lower")
    unknown = scores("value").curves.normalize(low=0.0, high=2.0)
    assert unknown.attrs["higher_is_better"] == 1


def test_times_are_better_the_lower():
    curves = xr.DataArray(
        [[[1.0, 5.0, 6.0]] * 3, [[1.0, 2.0, 6.0]] * 3],
        {"algorithm": ["fast", "slow"], "training": [1, 2, 3]},
        ("algorithm", "run", "training"),
        name="return",
    )
    times = curves.curves.time_to_target(5.0)
    assert direction.find(times).higher is False
    assert direction.find(times.drop_attrs()).higher is False


def test_a_given_direction_stays_with_what_is_made():
    frame = pd.DataFrame(
        {
            "algorithm": list("aabb"),
            "run": [0, 1] * 2,
            "training": 1,
            "value": [1.0, None, 2.0, 3.0],
        }
    )
    made = frame.curves.to_dataarray("value", missing_scores="failed", higher_is_better=False)
    assert np.isposinf(made).sum() == 1
    filled = made.curves.fill_failed("worst")
    assert filled.max() == 3.0
    assert filled.attrs["higher_is_better"] == 0
    by_name = frame.rename(columns={"value": "val_loss"}).curves.to_dataarray("val_loss", missing_scores="failed")
    assert np.isposinf(by_name).sum() == 1


def test_a_frame_of_one_metric_says_the_direction():
    frame = pd.DataFrame(
        {
            "algorithm": list("aabb"),
            "run": [0, 1] * 2,
            "training": 1,
            "metric": "val_loss",
            "value": [1.0, None, 2.0, 3.0],
        }
    )
    made = frame.curves.to_dataarray("value", missing_scores="failed")
    assert np.isposinf(made).sum() == 1
    assert direction.find(made) == (False, "metric val_loss")


def every_method():
    """Return calls whose result depends on which end of the scores is better, each of scores of several tasks."""
    one = {"task": 0, "training": -1}
    return {
        "across_tasks": lambda curves: curves.curves.across_tasks(rng=0),
        "profile_across_tasks": lambda curves: curves.curves.profile_across_tasks(rng=0),
        "pairwise": lambda curves: curves.curves.pairwise(rng=0),
        "contrast": lambda curves: curves.curves.contrast({"good": 1, "bad": -1}, margin=0.1, rng=0),
        "sequential": lambda curves: curves[0].curves.assign_looks(3).curves.sequential(n_looks=2, rng=0),
        "gate": lambda curves: curves.isel(one).curves.gate(baseline="bad", looks=[1, 2]),
        "tuning_curve": lambda curves: curves.isel(one).curves.tuning_curve(),
        "performance_cdf": lambda curves: curves.isel(one).curves.performance_cdf(),
        "compare_distributions": lambda curves: curves.isel(one).curves.compare_distributions(),
        "mean_time_to_target": lambda curves: curves[0].curves.mean_time_to_target(0.5),
        "speedup": lambda curves: curves[0].curves.speedup(reference="bad"),
    }


@pytest.mark.plain(1)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", every_method())
def test_every_method_asks_the_same_table(method):
    call = every_method()[method]
    made = scores().expand_dims(task=list("uvwxyz"))
    made = made + np.random.default_rng(1).normal(0, 0.01, made.shape)

    for name, higher in (("val_loss", 0), ("accuracy", 1)):
        result = call(made.rename(name))
        assert result.attrs["higher_is_better"] == higher
        assert "taken as better" not in result.attrs["history"]
        assert "taken as better" not in xcurves.summary(result)

    result = call(made.rename("value"))
    assert result.attrs["higher_is_better"] == 1
    assert result.attrs["history"].count("taken as better") == 1
    assert xcurves.summary(result).count("taken as better") == 1

    result = call(made.rename("accuracy").assign_attrs(higher_is_better=0))
    assert result.attrs["higher_is_better"] == 0


def test_the_signature_says_none_wherever_the_option_stands():
    named = [
        getattr(xcurves, name)
        for name in xcurves.__all__
        if callable(getattr(xcurves, name)) and not isinstance(getattr(xcurves, name), type)
    ]
    having = [
        signature(each).parameters["higher_is_better"].default
        for each in named
        if "higher_is_better" in signature(each).parameters
    ]
    assert len(having) >= 14
    assert set(having) == {None}


@pytest.mark.plain(2)
@pytest.mark.parametrize("spread", [0.02, 0.5, 2.0])
@pytest.mark.parametrize("n_tasks", [1, 2])
def test_distributions_of_losses_say_what_those_of_turned_losses_do(spread, n_tasks):
    rng = np.random.default_rng(2)
    losses = xr.DataArray(
        rng.normal(0, spread, (n_tasks, 3, 12)) + np.array([[0.2], [0.4], [0.9]]),
        {"task": range(n_tasks), "algorithm": ["good", "fair", "bad"]},
        ("task", "algorithm", "run"),
        name="val_loss",
    ).squeeze("task" if n_tasks == 1 else [])
    said = losses.curves.compare_distributions().curves.summary().split("\n")[0]
    turned = (-losses).rename("accuracy")
    same = turned.curves.compare_distributions().curves.summary().split("\n")[0]
    assert said == same.replace("lower", "HIGHER").replace("higher", "lower").replace("HIGHER", "higher")
    assert "lower" in said


def test_a_loss_without_a_score_above_0_is_asked_and_its_cures_are_answers():
    losses = xr.DataArray(
        -np.random.default_rng(0).uniform(0.1, 1.0, (2, 6)),
        {"algorithm": ["a", "b"]},
        ("algorithm", "run"),
        name="test_rmse",
    )
    higher, lower = (call(".assign_attrs", higher_is_better=end) for end in (1, 0))
    for ask in (losses.curves.analyze, losses.curves.compare_distributions):
        with refused("curves", cure=higher):
            ask(rng=0)
        with refused("curves", cure=lower):
            ask(rng=0)
    best = {}
    for end in (0, 1):
        said = losses.assign_attrs(higher_is_better=end)
        tree = said.curves.analyze(rng=0)
        best[end] = tree["distribution"].attrs["higher_is_better"]
    assert best == {0: 0, 1: 1}
    assert not direction.find(losses).higher  # a name alone
    for kept in (
        -losses,
        losses.rename("neg_rmse"),
        losses.rename("score"),
        losses * 0,
        losses.where(losses < -0.5, 1),
    ):
        kept.curves.compare_distributions(rng=0)


def test_parentheses_at_the_end_of_a_name_are_left_away():
    assert direction.says_higher("metrics/mAP50(B)") is True
    assert direction.says_higher("val_loss (test) (seed 1)") is False
    assert direction.says_higher("x" + "(a)" * 3000) is None
