"""Which end of scores is better: an option, attrs, the name of the scores, or the label that names the metric.

This is the only table of names of scores; the readers of logs rank columns by it too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import provenance
from xcurves.core.names import is_elapsed, is_metric, names_in, words_of
from xcurves.core.refusal import UNSAID, Call, Cure, Refusal, Verbatim, call, shown
from xcurves.core.validation import check_flag

End = Literal["higher", "lower"]
HIGHER = "higher_is_better"  # the option, and the attr of scores and results
ATTRS = f"attrs['{HIGHER}']"  # what says the direction, if the attr does
SCORE = "score"  # what scores are called that nobody named
MADE_NAME = "made_name"  # the attr of frames and curves with a name of the scores that nobody gave
# The tables of names, in parts that readers of logs rank as scores.
ERRORS = names_in(
    "error errors err errs merror mape smape mase rmse rmsle mae mse msle mphe medae maxae medse rae rse rrse sse sae "
    "wer cer ter eer fpr fnr fdr false_positive false_positives false_negative false_negatives misclassification"
)
LOSSES = names_in(
    "loss losses logloss mlogloss nll nloglik ce xent cross_entropy crossentropy bits_per_byte bits_per_char bpb bpc "
    "perplexity ppl brier brier_score bbrier mbrier ece crps ranked_probability_score fid fid_score kid kid_score "
    "lpips hinge huber logcosh log_cosh deviance regret edit_distance"
)
LOW = (
    ERRORS
    | LOSSES
    | names_in(
        "latency time times duration runtime elapsed wall walltime seconds cost costs distance violation violations kl "
        "divergence rank gap time_to_target l1 l2 failure failures davies_bouldin davies_bouldin_score energy_score "
        "interval_score winkler_score hd95 hausdorff hausdorff_distance assd makespan aic aicc bic pinball wasserstein "
        "chamfer kldiv kl_div min_dcf miss misses"
    )
)
MEASURES = names_in(
    "accuracy acc f1 auc auroc ap map r2 bleu success kappa correct exact_match solved resolved passed acc1 acc5 top1 "
    "top5 prec1 prec5 dice iou miou jaccard psnr ssim rouge rouge1 rouge2 rougel meteor chrf ndcg mrr auprc mcc"
)
_GENERIC = names_in("score scores")
HIGH = (
    MEASURES
    | _GENERIC
    | names_in(
        "return returns ret reward rewards rew likelihood elbo correlation saving savings saved "
        "reduction improvement survival lifetime uptime throughput fps reciprocal_rank precision recall d2_brier_score"
    )
)
# Words for a score, the one that is taken first: where a column has several of them, the first counts.
SCORES = (
    names_in("return returns ret"),
    names_in("reward rewards rew"),
    _GENERIC,
    MEASURES,
    ERRORS,
    LOSSES,
)
# Words at the end of a name that say of which data, over what or in which unit.
_ENDINGS = names_in(
    "mean avg average median final last best min max total val valid validation test train training eval evaluation "
    "cv ema epoch step per k top ms s sec secs us ns pct percent rate macro micro weighted norm"
)
_NUMBERED_ENDING = re.compile(r"p?\d+")  # p99, and the number of recall@5
_PERCENTILE = re.compile(r"p(?:50|9\d+)", re.IGNORECASE)  # by itself, of how long something takes
_IN_PARENTHESES = re.compile(r"(?:\s*+\([^()]*\))++\s*$")  # mAP50(B), accuracy (test)
_NEGATIVE = names_in("neg negative minus")
_OPPOSITE = re.compile(r"(?:in|im|un|non)(?P<of>.+)")  # inaccuracy
_ONE_MINUS = re.compile(r"\s*1\s*[-−]")  # 1 - accuracy
# false_negative_loss is no loss with its sign turned
_COUNTED = names_in("true false")
_LIKELIHOODS = names_in("likelihood")  # the negative of one is a loss
_TIMES = names_in("time times duration seconds")
# of which a long time may be good
_LASTING = names_in("survival episode ep alive up uptime life lifetime")
_COSTS = names_in("cost costs violation violations")
# cost_return, loss_score and brier_survival say nothing
_OF_ANYTHING = names_in("score scores return returns ret reward rewards rew survival")
_SAID = re.compile(
    r"(?P<higher>\b1 ?= ?worst|\bhigher[ _](?:is[ _])?better|↑)|\b1 ?= ?best|\blower[ _](?:is[ _])?better|↓"
)
# what a line of a history begins with, and has, where a direction was assumed
_BY_METHOD = "direction"
_BY_NAME = "the name "
_TAKEN = "is taken as better"


class Direction(NamedTuple):
    """Which end of scores is better, and what says so."""

    higher: bool
    # "the name val_loss", "metric val_loss"; "" of a given option, None where nothing says it
    source: str | None

    def why(self, scores: xr.DataArray) -> str:
        """Return in words which end is better of scores, and what says so."""
        name = given_name(scores)
        better = "lower"
        if self.higher:
            better = "higher"
        if self.source is None and name in (None, ""):
            return f"{better} {_TAKEN}: scores have no name that says"
        if self.source is None:
            return f"{better} {_TAKEN}: the name {name} does not say"
        if self.source:
            return f"{better} is better, as {self.source} says"
        return f"{better} is better"


def given_name(scores: xr.DataArray) -> Hashable:
    """Return the name of scores, None where nobody gave it."""
    if scores.attrs.get(MADE_NAME) == scores.name:
        return None
    return scores.name


def named(scores: xr.DataArray) -> xr.DataArray:
    """Return scores that have a name, of those without one the usual."""
    if scores.name is not None:
        return scores
    return scores.rename(SCORE).assign_attrs({MADE_NAME: SCORE})


def good_end(result: xr.Dataset) -> End:
    """Return which end of the scores of a result is better, as its attrs say."""
    if result.attrs.get(HIGHER, 1) == 0:
        return "lower"
    return "higher"


def looks_like_score(name: object) -> bool:
    """Return whether a column bears a usual name of a score, such as f1 or val_loss."""
    return any(words & set(words_of(name)) for words in SCORES)


def is_score_alone(name: object) -> bool:
    """Return whether a name is that of one measure, and at most says of which data: rmse, val_loss, final-accuracy."""
    before, ending = _known_ending(name)
    return set(before) <= _ENDINGS and any(ending in words for words in SCORES if words is not _GENERIC)


def says_higher(name: object) -> bool | None:
    """Return whether higher is better by the name of a score, None where the name does not say.

    Words at its end that only say of which data, over what or in which unit are left away (`loss_val`, `time_ms`); then
    the whole name is looked up, and its last words, the longest first. A loss after `neg` is one with its sign turned.
    A name may also say it in words: "rank (1 = best)", "score (lower is better)", "rate ↑".
    """
    said = _SAID.search(str(name).lower())
    if said:
        return bool(said["higher"])
    before, ending = _known_ending(name)
    if not ending:
        return False if is_elapsed(name) or _PERCENTILE.fullmatch(str(name)) else None
    if before == ["1"] and _ONE_MINUS.match(str(name)):
        before = ["minus"]
    return _says_ending(before, ending)


def is_loss(name: object) -> bool:
    """Return whether a name is of a loss or an error with its own sign, which is hardly ever below 0."""
    _, ending = _known_ending(name)
    return ending in ERRORS | LOSSES | _LIKELIHOODS and says_higher(name) is False


def are_turned(values: NDArray[Any]) -> bool:
    """Return whether numbers are those of a loss whose sign was turned: none above 0, and some below."""
    finite = values[np.isfinite(values)]
    return bool((finite <= 0).all() and (finite < 0).any())


def turned_words(name: object) -> str:
    """Return what is wrong with a loss whose scores are all below 0."""
    return f"does not say which end is better: {name} is the name of a loss, but no score is above 0"


def _known_ending(name: object) -> tuple[list[str], str]:
    """Return the last words of a name that are known, "" if none, and the words before them."""
    words = words_of(name)
    whole = "_".join(words)
    if whole in LOW | HIGH:
        return [], whole
    while words and (words[-1] in _ENDINGS or _NUMBERED_ENDING.fullmatch(words[-1])):
        words.pop()
    for start in range(len(words)):
        ending = "_".join(words[start:])
        for known in (ending, ending.rstrip("0123456789")):  # acc1, err5
            if known in LOW | HIGH and words[:start][-1:] != ["per"]:
                return words[:start], known
        opposite = _OPPOSITE.fullmatch(ending)
        if opposite and opposite["of"] in HIGH:
            return [*words[:start], "neg"], opposite["of"]
    if "per" in words[1:]:  # of cost_per_success the first says it
        return _known_ending("_".join(words[: words.index("per")]))
    plain = _IN_PARENTHESES.sub("", str(name))
    if plain not in ("", str(name)):
        return _known_ending(plain)
    return words, ""


def _says_ending(before: Sequence[str], ending: str) -> bool | None:
    """Return whether higher is better of a name with known last words, by the words before them."""
    last = "".join(before[-1:])
    if ending in _TIMES and last in _LASTING:
        return None
    if ending in _OF_ANYTHING and last in ERRORS | LOSSES | _COSTS:
        return None
    is_turned = False
    for place, word in enumerate(before):
        follows_count = place > 0 and before[place - 1] in _COUNTED
        if word in _NEGATIVE and not follows_count:
            is_turned = not is_turned
    return (ending in HIGH) != is_turned


def find(scores: xr.DataArray, given: bool | None = None) -> Direction:
    """Return which end of scores is better: as given, as attrs say, or the name, or the label of their metric."""
    names = [
        given_name(scores),
        scores.attrs.get("long_name"),
        scores.attrs.get("standard_name"),
    ]
    metrics: dict[str, list[object]] = {}
    select = _select
    for name in (*scores.dims, *scores.coords):
        if is_metric(name):
            metrics[str(name)] = scores[name].to_numpy().ravel().tolist()
            if name not in scores.dims:
                select = _where
    return decide(given, scores.attrs, names, metrics, select)


def decide(
    given: bool | None,
    attrs: Mapping[Any, Any],
    names: Sequence[object],
    metrics: Mapping[str, Sequence[object]],
    select: Callable[[str, object], Call],  # which calls keep one label of a dim
) -> Direction:
    """Return which end of scores is better, from an option, attrs, their names, and labels that name metrics.

    Raises
    ------
    ValueError
        If the attr is neither 0 nor 1, or if higher is better of one metric and lower of another.
    """
    if given is not None:
        return Direction(check_flag(HIGHER, given), "")
    if HIGHER in attrs:
        return Direction(_check_attr(attrs[HIGHER]), ATTRS)
    of_name = _of_names(names)
    for dim, several in metrics.items():
        if len(set(several)) > 1:
            return _of_several(dim, list(dict.fromkeys(several)), of_name, select)
    if any(says_higher(name) is not None and not _is_generic(name) for name in names):
        return of_name

    # "score" is what any metric may be called: the label says more.
    for dim, of_dim in metrics.items():
        for label in of_dim:
            higher = says_higher(label)
            if higher is not None:
                return Direction(higher, f"{dim} {label}")
    return of_name


def _select(dim: str, label: object) -> Call:
    """Return the call that keeps one label of a dim."""
    return call(".sel", **{dim: label})


def _where(dim: str, label: object) -> Call:
    """Return the call that keeps where a coordinate has a label."""
    return call(".where", Verbatim(f"curves.{dim} == {label!r}"), drop=True)


def _check_attr(value: Any) -> bool:
    """Return whether higher is better by the attr."""
    if isinstance(value, str) or value not in (0, 1):
        raise Refusal("curves", value, f"curves.attrs['{HIGHER}'] must be 1 or 0")
    return bool(value)


def _of_names(names: Sequence[object]) -> Direction:
    """Return the direction of the first name that says one; what any metric may be called comes last."""
    known = [name for name in names if says_higher(name) is not None]
    known.sort(key=_is_generic)
    if not known:
        return Direction(True, None)
    return Direction(bool(says_higher(known[0])), f"{_BY_NAME}{known[0]}")


def _is_generic(name: object) -> bool:
    """Return whether a name is that of any metric: "score"."""
    return "_".join(words_of(name)) in _GENERIC


def _of_several(
    dim: str,
    metrics: Sequence[object],
    otherwise: Direction,
    select: Callable[[str, object], Call],
) -> Direction:
    """Return the direction that several metrics share, each by its label, or else by the name of the scores."""
    by_label = [says_higher(label) for label in metrics]
    if set(by_label) == {None}:
        return otherwise
    higher = [otherwise.higher if of_label is None else of_label for of_label in by_label]
    if len(set(higher)) > 1:
        low = metrics[higher.index(False)]
        high = metrics[higher.index(True)]
        raise Refusal(
            "curves",
            UNSAID,
            f"{dim} has {shown(low)}, of which lower is better, and {shown(high)}, of which higher is",
            Cure("Select one: ", select(dim, low)),
        )
    return Direction(higher[0], f"{dim} {metrics[0]}")


def resolved(scores: xr.DataArray, given: bool | None) -> tuple[xr.DataArray, bool]:
    """Return scores, and whether higher is better of them; they say it too, in attrs or, if assumed, in history."""
    found = find(scores, given)
    _refuse_turned(scores, found)
    if given is not None:
        scores = scores.assign_attrs({HIGHER: int(found.higher)})
    if found.source is None and not assumed_in(scores):
        scores = provenance.record(scores, f"{_BY_METHOD}: {found.why(scores)}")
    return scores, found.higher


def _refuse_turned(scores: xr.DataArray, found: Direction) -> None:
    """Refuse scores none of which is above 0 and whose name, which is all that says so, is that of a loss."""
    if found.higher or not (found.source or "").startswith(_BY_NAME) or scores.chunks is not None:
        return
    name = str(found.source).removeprefix(_BY_NAME)
    if is_loss(name) and are_turned(scores.to_numpy()):
        better = call(".assign_attrs", **{HIGHER: 1})
        cure = Cure("If higher is better: ", better, "; if lower is: ", call(".assign_attrs", **{HIGHER: 0}))
        raise Refusal("curves", UNSAID, turned_words(name), cure)


def settled(scores: xr.DataArray, by: str) -> xr.DataArray:
    """Return scores of several algorithms, or of a search, whose attrs say which end is better, also if assumed.

    Their history says that `by` assumed it, so that each of several results need not say it again.
    """
    found = find(scores)
    _refuse_turned(scores, found)
    is_search = "sampler" in scores.attrs  # of the trials of one algorithm the best is told
    if found.source is not None or (scores.sizes.get("algorithm", 1) == 1 and not is_search):
        return scores
    recorded = provenance.record(scores, f"{by}: {found.why(scores)}")
    return recorded.assign_attrs({HIGHER: int(found.higher)})


def assumed_in(data: xr.DataArray | xr.Dataset, by: str = "") -> str:
    """Return what a history says of a direction that was assumed, "" where none was."""
    for line in str(data.attrs.get("history", "")).split("\n"):
        who, _, what = line.partition(": ")
        if _TAKEN in what and by in ("", who):
            return what[0].upper() + what[1:]
    return ""


def say_assumed(result: xr.Dataset) -> Iterator[str]:
    """Yield that higher is taken as better, of a result for which it matters."""
    assumed = assumed_in(result, _BY_METHOD)
    # Of the times at which scores reach a target the low ones are better, whatever was assumed of the scores.
    if assumed and result.attrs.get(HIGHER) == 1:
        yield f"{assumed} (else: {HIGHER}=False)."
