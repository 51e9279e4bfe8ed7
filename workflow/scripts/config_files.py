"""Config files merged as the workflow does, outside of it."""

from collections.abc import Iterable
from pathlib import Path

import yaml

from posbias.errors import ConfigError


def read_yaml(file: Path) -> dict:
    """Return a YAML file of keys; raises ConfigError naming the file if it is none."""
    try:
        read = yaml.safe_load(Path(file).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as fault:
        raise ConfigError(f"{file}: not a readable configuration: {fault}") from fault
    if read is not None and not isinstance(read, dict):
        raise ConfigError(f"{file}: expected keys and values, found a {type(read).__name__}.")
    return read or {}


def merged(files: Iterable[Path]) -> dict:
    """Return the configuration of several files, later ones over earlier ones."""
    from snakemake.utils import update_config

    config: dict = {}
    for file in files:
        update_config(config, read_yaml(file))
    return config
