"""The short form: every claim, over fewer data sets, within 99.9 % binomial bounds."""

import pytest

from calibration.claims import EXACT, count_of, fails
from calibration.suite import SIMULATIONS

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("simulation", SIMULATIONS, ids=lambda each: f"{each.family}: {each.setting}")
def test_claims_hold(simulation):
    measured = simulation.measure(simulation.short)
    found = {row: count_of(measured, row) for row in simulation.claims}
    wrong = {row: found[row] for row, claim in simulation.claims.items() if not claim.allows(*found[row])}
    assert not wrong, f"rejections of data sets, claimed {simulation.claims}: {wrong}"


def test_a_wrong_level_would_be_seen():
    assert EXACT.allows(100, 2000)
    assert not EXACT.allows(140, 2000)
    assert not EXACT.allows(65, 2000)
    assert not fails(0.1).allows(100, 2000)


def test_claims_are_made_once():
    names = [(each.family, each.setting, row) for each in SIMULATIONS for row in each.claims]
    assert len(set(names)) == len(names)
