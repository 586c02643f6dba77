"""The modifications of curves by which the papers make differences of a chosen size."""

from __future__ import annotations

from typing import Literal

import numpy as np
import xarray as xr

from xcurves.core import validation
from xcurves.core.validation import check_curves

Case = Literal["a", "b", "c", "d"]


def modified(curves: xr.DataArray, case: Case, factor: float) -> xr.DataArray:
    r"""Change every curve in one of the papers' four ways.

    Parameters
    ----------
    curves : DataArray, dims (..., training)
        Curves L; at least two training levels, for ``"b"`` an even number.
    case : {"a", "b", "c", "d"}
        How the modified curve lies to the old one: ``"a"`` parallel (algorithm effect only), ``"b"`` steeper or
        flatter about the same mean (interaction only), ``"c"`` towards another end, ``"d"`` different in the middle
        only (both effects).
    factor : float
        How much, f; 0 leaves the curves as they are.

    Returns
    -------
    DataArray
        Modified curves, `training` the last dim; units as before.

    Raises
    ------
    ValueError, TypeError
        If the case is unknown or does not suit the number of levels, or the factor is not finite.

    Notes
    -----
    With levels i = 1, ..., k and :math:`r = L_k - L_1` of the curve itself [1]_,

    .. math::

       M_a:\; L_i + f r / 80 \qquad M_b:\; L_i + f r (k/2 - i + 1) / 100 \text{ if } i \le k/2,\;
       L_i - f r (i - k/2) / 100 \text{ else}

       M_c:\; L_i + f (L_i - L_1) (i - 1) / 100 \qquad M_d:\; L_i + f r (i - 1) / 100 \text{ if } i \le k/2,\;
       L_i + f r (k - i) / 100 \text{ else}

    M_b adds nothing to a curve's mean if k is even, and only then.

    References
    ----------
    .. [1] Piater, J. H., Cohen, P. R., Zhang, X. & Atighetchi, M. (1998). A randomized ANOVA procedure for comparing
       performance curves. Proc. 15th Int. Conf. on Machine Learning, appendix.

    Examples
    --------
    >>> import xcurves
    >>> score = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> changed = xcurves.simulation.modified(score, "b", 8)
    >>> bool(abs(changed.mean("training") - score.mean("training")).max() < 1e-9)
    True
    """
    curves = check_curves(curves, core=("training",))
    k = curves.sizes["training"]
    validation.check_choice("case", case, ("a", "b", "c", "d"))
    factor = validation.check_number("factor", factor)
    if case == "b" and k % 2:
        raise ValueError(
            f"case 'b' needs an even number of training levels; got {k}. "
            "Leave one out: curves.isel(training=slice(1, None))"
        )
    values = curves.data
    first = values[..., :1]
    rise = values[..., -1:] - first
    i = np.arange(1, k + 1)
    early = i <= k / 2
    change = {
        "a": lambda: rise / 80,
        "b": lambda: rise * np.where(early, k / 2 - i + 1, k / 2 - i) / 100,
        "c": lambda: (values - first) * (i - 1) / 100,
        "d": lambda: rise * np.where(early, i - 1, k - i) / 100,
    }
    return curves.copy(data=values + factor * change[case]())


def stretched(curves: xr.DataArray, factor: float) -> xr.DataArray:
    """Multiply every score by a factor, as the papers' report does to get curves that grow faster.

    Parameters
    ----------
    curves : DataArray
        Scores; any dims.
    factor : float
        The stretch s; 1 leaves the curves as they are, 1.1 puts scores 10 % higher.

    Returns
    -------
    DataArray
        Stretched curves, in the same units.

    Raises
    ------
    ValueError
        If the factor is not finite.

    Examples
    --------
    >>> import xcurves
    >>> score = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> float(xcurves.simulation.stretched(score, 1.1).max() / score.max())
    1.1
    """
    return curves.copy(data=curves.data * validation.check_number("stretch", factor))
