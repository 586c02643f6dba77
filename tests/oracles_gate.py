"""The gate by its definition: plain loops over looks and over all splits of runs, with nothing of the package."""

from itertools import combinations
from math import inf, isclose, isinf, sqrt


def mean(values):
    return sum(values) / len(values)


def variance(values):
    centre = mean(values)
    return sum((value - centre) ** 2 for value in values) / (len(values) - 1)


def studentized(first, second):
    """Return the difference of means over its standard error; 0 where both have no spread and the same mean."""
    difference = mean(first) - mean(second)
    error = sqrt(variance(first) / len(first) + variance(second) / len(second))
    if error < 1e-13:
        return 0.0 if abs(difference) < 1e-13 else inf * difference
    return difference / error


def splits(pooled, n_first):
    for chosen in combinations(range(len(pooled)), n_first):
        first = [pooled[place] for place in chosen]
        second = [value for place, value in enumerate(pooled) if place not in chosen]
        yield studentized(first, second)


def reaches(value, observed):
    return value >= observed or isclose(value, observed, rel_tol=1e-9, abs_tol=1e-9)


def pvalue_greater(first, second):
    """Return the share of all splits with a statistic at least as large."""
    observed = studentized(first, second)
    values = list(splits(first + second, len(first)))
    return sum(reaches(value, observed) for value in values) / len(values)


def pvalue_two_sided(first, second):
    observed = abs(studentized(first, second))
    values = [abs(value) for value in splits(first + second, len(first))]
    return sum(reaches(value, observed) for value in values) / len(values)


def replay(
    runs,
    baseline,
    order,
    *,
    looks,
    level,
    margin=0.0,
    start=None,
    higher_is_better=True,
):
    """Return what is decided of every candidate, and the champion with the runs that each champion used."""
    sign = 1 if higher_is_better else -1
    champion = baseline
    used = {baseline: min(4, looks[-1]) if start is None else start}
    found, is_open = [], False
    for name in order:
        one = {
            "candidate": name,
            "champion": champion,
            "decision": None,
            "n_runs": 0,
            "n_runs_champion": 0,
            "difference": None,
            "pvalue": None,
            "runs_to_make": 0,
            "runs_to_make_champion": 0,
        }
        found.append(one)
        if is_open:
            one["decision"] = "waiting"
            continue
        for look in looks:
            needed = max(look, used[champion])
            lacks = max(0, look - len(runs[name])), max(0, needed - len(runs[champion]))
            if max(lacks):
                one["decision"] = "run_more"
                one["runs_to_make"], one["runs_to_make_champion"] = lacks
                is_open = True
                break
            used[champion] = needed
            ours = [sign * value for value in runs[name][:look]]
            theirs = [sign * value for value in runs[champion][:needed]]
            one["n_runs"], one["n_runs_champion"] = look, needed
            failed = any(isinf(value) for value in ours)
            better = -inf if failed else mean(ours) - mean(theirs)
            one["difference"] = sign * better
            if failed or better <= margin + 1e-13:
                one["decision"] = "dropped"
                break
        if one["decision"] is None:
            one["pvalue"] = pvalue_greater([value - margin for value in ours], theirs)
            one["decision"] = "kept" if one["pvalue"] <= level + 1e-12 else "dropped"
        if one["decision"] == "kept":
            champion = name
            used[name] = looks[-1]
    return found, champion, used
