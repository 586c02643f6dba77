"""Sums over the groups of reassignments of many curves, in time and memory that grow linearly with their number."""

from __future__ import annotations

import numpy as np
import scipy

from xcurves.kernels.moments import Floats
from xcurves.kernels.shuffles import Order, Plan


def sums_over_groups(plan: Plan, number: int, features: Floats) -> Floats:
    """Return sums of features, shape (curve, feature), over the groups of block `number` of a large plan.

    Returns
    -------
    ndarray, shape (reassignment, group, feature)
        For two groups only the first.
    """
    if len(plan.sizes) == 2:
        return np.asarray(plan.first_group(number).astype(np.float64) @ features)[:, np.newaxis]
    order = plan.block(number)
    return np.asarray(sparse_members(order, plan.sizes) @ features).reshape(len(order), len(plan.sizes), -1)


def sparse_members(order: Order, sizes: tuple[int, ...], weights: Floats | None = None) -> scipy.sparse.csr_matrix:
    """Return the members of all groups of reassignments, shape (reassignment and group, curve).

    Members of a group have its weight, by default 1.
    """
    n_rows, n_curves = order.shape
    pointers = np.append(np.add.outer(n_curves * np.arange(n_rows), np.cumsum((0, *sizes[:-1]))), order.size)
    data = np.ones(order.size) if weights is None else np.tile(np.repeat(weights, sizes), n_rows)
    shape = (n_rows * len(sizes), n_curves)
    return scipy.sparse.csr_matrix((data, order.ravel(), pointers), shape=shape, copy=False)
