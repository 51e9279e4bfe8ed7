"""The templates of tables and pages: a part that is not given is an error, never left out."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined


def template_environment(autoescape: bool, **delimiters: str) -> Environment:
    """Return the environment of the report's templates.

    autoescape: whether HTML is escaped. delimiters: other than jinja's own, by jinja's names.
    """
    return Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=StrictUndefined,
        autoescape=autoescape,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **delimiters,
    )


def html_page(template: str, **parts: Any) -> str:
    """Return the page of a template; raises jinja2's UndefinedError for a part that is missing."""
    return template_environment(autoescape=True).get_template(template).render(**parts)
