"""Sums over the groups of reassignments of many curves, in time and memory that grow with their number only."""

from __future__ import annotations

import numpy as np
import scipy

from xcurves.kernels.moments import Floats
from xcurves.kernels.shuffles import Plan


def sums_over_groups(plan: Plan, number: int, features: Floats) -> Floats:
    """Return sums of features, shape (curve, feature), over the groups of block `number` of a large plan.

    Returns
    -------
    ndarray, shape (reassignment, group, feature)
        Of two groups only the first.
    """
    if len(plan.sizes) == 2:
        return np.asarray(plan.first_group(number).astype(np.float64) @ features)[:, np.newaxis]
    order = plan.block(number)
    n_rows, n_curves = order.shape
    starts = np.cumsum((0, *plan.sizes[:-1]))
    pointers = np.append(np.add.outer(n_curves * np.arange(n_rows), starts), order.size)
    members = scipy.sparse.csr_matrix(
        (np.ones(order.size), order.ravel(), pointers), shape=(n_rows * len(starts), n_curves), copy=False
    )
    return np.asarray(members @ features).reshape(n_rows, len(starts), -1)
