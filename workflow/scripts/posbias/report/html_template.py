"""Pages of the report folder's templates: what is put into one is escaped, nothing is left out."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined


def html_page(template: str, **parts: Any) -> str:
    """Return the page of a template; raises jinja2's UndefinedError for a part that is missing."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(template).render(**parts)
