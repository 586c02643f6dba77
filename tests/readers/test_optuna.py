"""Studies that the real Optuna ran, in memory and in a file."""

import numpy as np
import pytest

from xcurves.readers import optuna as reader
from xcurves.readers import read

optuna = pytest.importorskip("optuna")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]


def objective(trial):
    rate = trial.suggest_float("rate", 0, 1)
    for step in range(3):
        trial.report(rate + step, 10 * step)
        if trial.number == 4 and step == 1:
            raise optuna.TrialPruned
    return rate


@pytest.fixture(params=["optuna.db", "journal.log"])
def path(request, tmp_path):
    return tmp_path / request.param


@pytest.fixture
def studies(path):
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    if path.suffix == ".db":
        storage = optuna.storages.RDBStorage(f"sqlite:///{path}")
    else:
        storage = optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(str(path)))
    made = {}
    for seed, name in enumerate(["sac", "td3"]):
        sampler = optuna.samplers.RandomSampler(seed=seed)
        made[name] = optuna.create_study(study_name=name, storage=storage, sampler=sampler)
        made[name].optimize(objective, n_trials=5)
    yield made
    if path.suffix == ".db":
        storage.engine.dispose()


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_reported_values_are_curves_of_trials(studies, path):
    frame = reader.intermediate_values(studies)
    with pytest.raises(ValueError, match="the frame has runs that were pruned"):
        frame.curves.to_dataarray("value", training="step")
    curves = frame.drop(columns="state").curves.to_dataarray("value", training="step", missing_scores="absent")
    for name, study in studies.items():
        for trial in study.trials:
            mine = curves.sel(algorithm=name, run=trial.number).dropna("training")
            assert dict(zip(mine.training.values, mine.values, strict=True)) == trial.intermediate_values
    assert set(frame.query("run == 4").state) == {"pruned"}
    assert read(path).equals(frame)
    curves.curves.drop_incomplete().curves.randomized_anova(confidence_level=0.5)


def test_finished_trials_are_scores_and_the_others_are_counted(studies, path):
    with pytest.warns(UserWarning, match=r"^trials without a result are left out: 2 pruned$"):
        frame = reader.trials(studies)
    scores = frame.curves.to_dataarray("value", training=None)
    for name, study in studies.items():
        np.testing.assert_array_equal(scores.sel(algorithm=name), [trial.value for trial in study.trials[:4]])
    assert frame["params_rate"].tolist() == frame["value"].tolist()
    with pytest.warns(UserWarning, match=r"2 pruned$"):
        assert read(path, source="optuna-trials").equals(frame)


@pytest.mark.parametrize(("direction", "failed"), [("maximize", -np.inf), ("minimize", np.inf)])
def test_failed_trials_have_the_worst_score(direction, failed):
    """Half of the trials crash: the best of ten is that of all trials, not of those that survived."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction=direction, sampler=optuna.samplers.RandomSampler(seed=0))

    def crash(trial):
        rate = trial.suggest_float("rate", 0, 1)
        if trial.number % 2:
            raise RuntimeError
        return rate

    study.optimize(crash, n_trials=40, catch=RuntimeError)
    frame = reader.trials({"sac": study})
    assert frame["state"].tolist() == ["complete", "fail"] * 20
    assert (frame["value"][1::2] == failed).all()
    scores = frame.curves.to_dataarray("value", training=None)
    curve = scores.curves.tuning_curve(n_trials=10, higher_is_better=direction == "maximize")
    rates = np.array([trial.params["rate"] for trial in study.trials])
    rates[1::2] = failed
    ordered = np.sort(rates) if direction == "maximize" else np.sort(rates)[::-1]
    assert curve.best_median.sel(trials=10).item() == ordered[int(np.ceil(40 * 0.5**0.1)) - 1]


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.usefixtures("studies")
def test_a_damaged_file_is_named(path):
    data = path.read_bytes()
    third = len(data) // 3
    path.write_bytes(data[:third] if path.suffix == ".db" else data[:third] + b"}\n" + data[third:])
    with pytest.raises(ValueError, match=rf"^{path} is cut short, damaged or no storage of Optuna: "):
        reader.trials(path)


@pytest.mark.parametrize("path", ["journal.log"], indirect=True)
def test_a_journal_that_is_cut_short_gives_its_whole_lines(studies, path):
    whole = reader.intermediate_values(studies)
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.warns(UserWarning, match=rf"^{path}: the last line is cut short and left out: "):
        frame = reader.intermediate_values(path)
    assert frame.drop(columns="state").equals(whole.drop(columns="state"))


def test_what_are_no_studies_is_refused(studies):
    with pytest.raises(TypeError, match=r"^studies must map names.*got Study\. Name it"):
        reader.trials(studies["sac"])
    several = optuna.create_study(directions=["minimize", "maximize"])
    with pytest.raises(ValueError, match=r"^study of 'x' has 2 objectives"):
        reader.trials({"x": several})
    with pytest.raises(ValueError, match=r"^no trial is finished"):
        reader.trials({"x": optuna.create_study()})
    with pytest.raises(ValueError, match=r"^no trial reported an intermediate value"):
        reader.intermediate_values({"x": optuna.create_study()})


@pytest.mark.filterwarnings("ignore:QMCSampler is experimental")
@pytest.mark.parametrize("name", ["RandomSampler", "TPESampler", "QMCSampler", "NSGAIISampler"])
def test_what_chose_the_trials_is_in_the_attrs_of_a_study_in_memory(name):
    study = optuna.create_study(sampler=getattr(optuna.samplers, name)(seed=0))
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=4)
    frame = reader.trials({"a": study})
    assert frame.attrs["sampler"] == name
    assert frame.attrs["n_pruned"] == 0
    curves = frame.curves.to_dataarray("value", training=None)
    assert curves.attrs["sampler"] == name


@pytest.mark.parametrize(("sampler", "said"), [("GridSampler", "GridSampler"), ("RandomSampler", "unknown")])
def test_a_storage_says_it_where_the_sampler_left_notes(tmp_path, sampler, said):
    made = getattr(optuna.samplers, sampler)(*([{"x": [0.0, 0.5, 1.0]}] if sampler == "GridSampler" else []))
    path = tmp_path / "study.db"
    study = optuna.create_study(storage=f"sqlite:///{path}", sampler=made, study_name="a")
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=3)
    assert reader.trials(path).attrs["sampler"] == said


def test_pruned_trials_are_counted_in_the_attrs():
    def objective(trial):
        if trial.number % 2:
            raise optuna.TrialPruned
        return 1.0

    study = optuna.create_study()
    study.optimize(objective, n_trials=5)
    with pytest.warns(UserWarning, match="2 pruned"):
        assert reader.trials({"a": study}).attrs["n_pruned"] == 2
