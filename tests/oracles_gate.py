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


def pvalue_moved(audit):
    """Return the p of the first half of runs against the others, nothing of fewer than four."""
    if len(audit) < 4 or any(isinf(value) for value in audit) or len(set(audit)) == 1:
        return None
    half = len(audit) // 2
    return pvalue_two_sided(audit[:half], audit[half:])


def with_worst(ours, theirs):
    """Return both sides with failed runs, minus infinity, as the worst of all that did not fail."""
    finite = [value for value in ours + theirs if not isinf(value)]
    return [[min(finite) if isinf(value) else value for value in side] for side in (ours, theirs)]


class FailedChampion(Exception):
    """Names the champion, and the place of its first failed run."""


def replay(
    runs,
    baseline,
    order,
    *,
    looks,
    level,
    margin=0.0,
    start=None,
    refresh=0,
    share_failed=0.0,
    higher_is_better=True,
):
    """Return what is decided of every candidate, the champion, and the runs of each champion that decided nothing."""
    sign = 1 if higher_is_better else -1
    turned = {name: [sign * value for value in row] for name, row in runs.items()}
    champion = baseline
    asked = {baseline: min(4, looks[-1]) if start is None else start}
    left_out = {name: set() for name in runs}  # places of runs that took no part
    n_met = 0
    found, is_open = [], False

    def taking_part(name):
        return [value for place, value in enumerate(turned[name]) if place not in left_out[name]]

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
            "n_failed": 0,
        }
        found.append(one)
        if is_open:
            one["decision"] = "waiting"
            continue

        n_met += 1
        if refresh and n_met % refresh == 0 and asked[champion] < 32:
            kept_places = [place for place in range(len(turned[champion])) if place not in left_out[champion]]
            for place in kept_places[asked[champion] :]:
                if not isinf(turned[champion][place]):
                    break
                left_out[champion].add(place)
                one["n_failed"] += 1
            asked[champion] += 1

        for look in looks:
            needed = max(look, asked[champion])
            ours, theirs = turned[name][:look], taking_part(champion)[:needed]
            n_failed = sum(isinf(value) for value in ours)
            failed = n_failed / look > share_failed + 1e-12
            lacks = look - len(ours), needed - len(theirs)
            if max(lacks) and not failed:
                one["decision"] = "run_more"
                one["runs_to_make"], one["runs_to_make_champion"] = lacks
                is_open = True
                break
            asked[champion] = needed
            n_wrong = sum(isinf(value) for value in theirs)
            if n_wrong / needed > share_failed + 1e-12:
                raise FailedChampion(champion, turned[champion].index(-inf))
            one["n_runs"], one["n_runs_champion"] = len(ours), len(theirs)
            if failed:
                one["difference"] = -sign * inf
                one["decision"] = "dropped"
                break
            ours, theirs = with_worst(ours, theirs)
            better = mean(ours) - mean(theirs)
            one["difference"] = sign * better
            if better <= margin + 1e-13:
                one["decision"] = "dropped"
                break
        if one["decision"] is None:
            one["pvalue"] = pvalue_greater([value - margin for value in ours], theirs)
            one["decision"] = "kept" if one["pvalue"] <= level + 1e-12 else "dropped"
        if one["decision"] == "kept":
            champion = name
            asked[name] = looks[-1]
            n_met = 0
    audit = {name: [sign * value for value in taking_part(name)[asked[name] :]] for name in asked}
    return found, champion, audit
