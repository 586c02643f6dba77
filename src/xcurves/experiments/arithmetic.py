"""How this machine rounds, in one number."""

from __future__ import annotations

import zlib

import numpy as np


def fingerprint() -> int:
    """Return a number that differs between machines whose sines, exponentials or matrix products round differently.

    Learning amplifies rounding errors. So a long experiment can be repeated bit for bit where this number and the
    versions of the packages are the same; elsewhere its curves differ, but have the same distribution.

    Returns
    -------
    int
        From 0 to 2**31 - 1.

    Examples
    --------
    >>> fingerprint() == fingerprint()
    True
    """
    x = np.linspace(-9, 9, 999)
    matrix = np.sin(np.arange(2500.0)).reshape(50, 50)
    parts = [np.sin(x), np.cos(x), np.exp(x), np.log(x + 10), np.tanh(x), matrix @ matrix]
    parts += [part.astype(np.float32) @ part.astype(np.float32).T for part in (matrix,)]
    return zlib.crc32(b"".join(part.tobytes() for part in parts)) >> 1
