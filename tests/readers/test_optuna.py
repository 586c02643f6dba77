"""Studies that the real Optuna ran, in memory and in a file."""

import numpy as np
import pytest

from refusals import refused
from xcurves import WrongType
from xcurves.__main__ import main
from xcurves.core.known import known_of
from xcurves.core.names import seeds_in
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
    with refused("frame", cure="missing_scores='failed'", names="has runs that were pruned"):
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
    with refused("path", str(path), "Copy it again, or remove it", names="damaged or no storage of Optuna"):
        reader.trials(path)


@pytest.mark.parametrize("path", ["journal.log"], indirect=True)
def test_a_journal_that_is_cut_short_gives_its_whole_lines(studies, path):
    whole = reader.intermediate_values(studies)
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.warns(UserWarning, match=rf"^{path}: the last line is cut short and left out: "):
        frame = reader.intermediate_values(path)
    assert frame.drop(columns="state").equals(whole.drop(columns="state"))


def test_what_are_no_studies_is_refused(studies):
    with refused("studies", "Study", "Name it: ", kind=WrongType):
        reader.trials(studies["sac"])
    several = optuna.create_study(directions=["minimize", "maximize"])
    with refused("path", cure="Leave it out", names="^study of 'x' has 2 objectives"):
        reader.trials({"x": several})
    with refused("path", cure="Run the studies on", names="^no trial is finished"):
        reader.trials({"x": optuna.create_study()})
    with refused("path", cure="optuna.trials", names="^no trial reported an intermediate value"):
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


def searched(path, names, n_trials=6, sampler="TPESampler", direction="minimize", *, fails=True):
    """Run a study of each name, whose trials report a value; the second is pruned and the third fails."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def one(trial):
        rate = trial.suggest_float("rate", 0, 1)
        trial.report(rate, 0)
        if fails and trial.number == 1:
            raise optuna.TrialPruned
        if fails and trial.number == 2:
            raise RuntimeError
        return rate

    storage = optuna.storages.RDBStorage(f"sqlite:///{path}")
    made = {}
    for seed, name in enumerate(names):
        chosen = getattr(optuna.samplers, sampler)(seed=seed)
        made[name] = optuna.create_study(study_name=name, storage=storage, sampler=chosen, direction=direction)
        made[name].optimize(one, n_trials=n_trials, catch=RuntimeError)
    storage.engine.dispose()
    return made


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
@pytest.mark.parametrize(
    "names",
    [
        ["tpe_seed0", "tpe_seed1", "random_seed0", "random_seed1"],
        ["tpe-s1", "tpe-s2", "random-s1", "random-s2"],
        ["tpe_1", "tpe_2", "random_0", "random_1"],
    ],
)
def test_studies_of_seeds_are_runs_of_the_best_value_so_far(tmp_path, names, direction):
    """Trials of one search are no runs: each is chosen by those before."""
    made = searched(tmp_path / "study.db", names, direction=direction)
    frame = read(tmp_path / "study.db")
    assert "best_value is the best so far" in frame.attrs["named_by"]
    curves = frame.curves.to_dataarray()
    assert curves.dims == ("algorithm", "run", "training")
    assert curves["training"].values.tolist() == [1, 2, 3, 4, 5, 6]
    assert curves.attrs["higher_is_better"] == (direction == "maximize")
    best = min if direction == "minimize" else max
    for name, study in made.items():
        mine = curves.sel(algorithm=name.split("_")[0].split("-")[0], run=int(name[-1])).values
        for number, so_far in enumerate(mine, 1):
            complete = [trial.value for trial in study.trials[:number] if trial.state.name == "COMPLETE"]
            assert so_far == best(complete)


def test_trials_of_an_adaptive_search_get_no_p(tmp_path, capsys):
    searched(tmp_path / "study.db", ["sac", "td3"], n_trials=12, fails=False)
    assert main([str(tmp_path / "study.db"), "--source", "optuna-trials", "--output", str(tmp_path / "a.nc")]) == 2
    out, err = capsys.readouterr()
    assert "Runs: trials of a study, chosen by TPESampler" in out
    assert "runs are trials of TPESampler, which chooses each by those before: they are not independent" in err
    assert "NAME_seed0" in err


def test_trials_of_an_unknown_search_are_said_to_be_independent_if_it_is_random(tmp_path, capsys):
    searched(tmp_path / "study.db", ["sac", "td3"], n_trials=9, sampler="RandomSampler", fails=False)
    assert main([str(tmp_path / "study.db"), "--source", "optuna-trials", "--output", str(tmp_path / "a.nc")]) == 0
    assert "independent only if its sampler is random" in capsys.readouterr().out


@pytest.mark.parametrize("names", [["resnet-18", "resnet-34"], ["tpe_seed0", "random"], ["sac_seed1", "td3_seed1"]])
def test_numbers_that_are_no_seeds_stay_in_the_name(names):
    assert seeds_in(names) is None


@pytest.mark.parametrize(("direction", "lower"), [("minimize", True), ("maximize", False)])
def test_what_is_known_of_columns_says_which_end_is_good(tmp_path, direction, lower):
    searched(tmp_path / "study.db", ["sac", "td3"], sampler="RandomSampler", direction=direction, fails=False)
    frame = read(tmp_path / "study.db", source="optuna-trials")
    assert known_of(frame).lower_is_better is lower
    assert known_of(frame.rename(columns={"value": "other"})).lower_is_better is None
