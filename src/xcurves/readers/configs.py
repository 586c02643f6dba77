"""Configurations beside the logs of runs, and what they differ in."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from xcurves.core.calls import later
from xcurves.core.refusal import Refusal
from xcurves.readers.open_files import read_bytes

if TYPE_CHECKING:
    from xcurves.readers.formats import json_rows
else:
    (json_rows,) = later("xcurves.readers.formats", "json_rows")

_CONFIGS = [
    f"{stem}.{end}" for stem in ("config", "args", "hparams", "params") for end in ("json", "yaml", "yml", "toml")
]
_CONFIGS += ["flags.json", ".hydra/config.yaml"]
_LARGEST = 1 << 20  # bytes of a configuration
_MOST_KEYS = 2000
_ALIAS = re.compile(rb"(?:^|[\s\[,:-])\*\w")  # aliases of YAML can grow without end


def settings_of(homes: Sequence[Path]) -> pd.DataFrame:
    """Return a row for each folder of a run, a column for each key of the configurations in which runs differ."""
    return _what_differs([_read_config(home) for home in homes])


def _read_config(home: Path) -> dict[str, Any]:
    """Return the configuration beside the logs of a run, nested keys joined by "/"; empty if there is none."""
    for name in _CONFIGS:
        path = home / name
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= _LARGEST:
            try:
                found = _load(path)
            except Refusal:  # of a key that stands twice one value would be lost
                raise
            except Exception:  # a configuration that cannot be read says nothing of its run
                continue
            if isinstance(found, Mapping):
                return dict(islice(json_rows.flat(_of_wandb(found)), _MOST_KEYS))
    return {}


def _of_wandb(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration without what Weights & Biases writes around each value."""
    if "_wandb" not in config:
        return dict(config)
    values = {key: about.get("value") for key, about in config.items() if isinstance(about, Mapping)}
    return {key: value for key, value in values.items() if key != "_wandb"}


def _what_differs(configs: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return a column for each key in which runs differ, in the order of the first configuration."""
    keys = list(dict.fromkeys(key for config in configs for key in config))
    rows = pd.DataFrame({key: [config.get(key) for config in configs] for key in keys}, dtype=object)
    differ = [key for key in keys if len({repr(value) for value in rows[key]}) > 1 and rows[key].notna().all()]
    return rows[differ].infer_objects()


def _load(path: Path) -> Any:
    data = read_bytes(path)
    if path.suffix == ".json":
        return json_rows.parse(data, path)
    if path.suffix == ".toml":
        return tomllib.loads(data.decode())
    import yaml

    if _ALIAS.search(data):
        return None
    return yaml.safe_load(data)
