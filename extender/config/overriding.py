"""A configuration with some keys changed, for those who ask what would be."""

from collections.abc import Mapping

from extender.config import loading, printing
from extender.config.schema import Config
from extender.model.documents import Plain


def override(base: Config, data: Mapping[str, Plain]) -> Config:
    """The configuration with these keys of a file; mappings are merged. ConfigError if bad."""
    document = printing.to_document(base)
    for key, value in data.items():
        old = document.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            document[key] = {**old, **value}
        else:
            document[key] = value
    return loading.from_data(document)
