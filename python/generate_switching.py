#!/usr/bin/env python3
"""Writes docs/switching from the table of arguments, python/hstujit/compat/table.py.

generate_switching.py [docs/switching]
"""

from __future__ import annotations

import importlib.util
import sys
import textwrap
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TABLE = HERE / "hstujit/compat/table.py"


def load_table() -> Any:
    """The table by its file: the package itself needs torch."""
    spec = importlib.util.spec_from_file_location("hstujit_compat_table", TABLE)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def cell(argument: Any) -> str:
    """An argument with its default."""
    return f"`{argument.name}={argument.default}`" if argument.default else f"`{argument.name}`"


def wrapped(text: str, mark: str = "") -> list[str]:
    """A paragraph, or an entry of a list, in lines as the other pages have them."""
    indent = " " * len(mark)
    return textwrap.wrap(
        text, 136, initial_indent=mark, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def function_lines(function: Any) -> list[str]:
    """The part of one function: a table of what is more than `same`, and the names of the others."""
    lines = [f"## {function.name}", *wrapped(f"Of `{function.module}`. {function.note}")]
    lines += ["", "| argument | becomes | |", "|---|---|---|"]
    lines += [f"| {cell(a)} | {a.verdict} | {a.note} |" for a in function.arguments]
    return [*lines, ""]


def page(source: Any) -> str:
    """The page of one source."""
    first = next(f for f in source.functions if "." not in f.name)
    about = wrapped(
        f"From {source.repository}. {source.about} Written by python/generate_switching.py from "
        "python/hstujit/compat/table.py, which the tests hold against the functions."
    )
    lines = [
        f"# Switching from {source.name}",
        *about,
        "",
        "```python",
        f"# from {first.module} import {first.name}",
        f"from hstujit.compat.{source.name} import {first.name}",
        "",
        "# or, in every module that imports its functions, before or after:",
        "import hstujit",
        "",
        f'hstujit.patch("{source.name}")                   # stand_in=True: where {source.name} is not installed',
        "```",
        "",
        "| becomes | |",
        "|---|---|",
        "| same | it means what it means in the source |",
        "| ignored | it cannot change the result |",
        "| raises | the values named here raise `hstujit.Error`; all others mean what they mean in the source |",
        "",
        *(line for note in source.notes for line in wrapped(note, "- ")),
        *([""] if source.notes else []),
    ]
    for function in source.functions:
        lines += function_lines(function)
    return "\n".join(lines)


def pages() -> dict[str, str]:
    """Every page by its file's name."""
    return {f"{source.name}.md": page(source) for source in load_table().SOURCES}


def main() -> None:
    """The command line."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent / "docs/switching"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text)


if __name__ == "__main__":
    main()
