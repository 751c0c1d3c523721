#!/usr/bin/env python3
"""Writes what follows from the table of torch operators (hstujit/torch/schemas.py): the marshalling in C++, the fake kernels
and the typed functions. It joins the table with the library's own description of its operators, and stops where the two do not
fit together: an argument that is no member, a member that nothing fills, an operator without a line.

generate.py --library libhstujit.so --include include --cpp operators.inc --package hstujit/torch
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def load(name: str, path: Path) -> Any:
    """A module by its file: the package itself needs the library's own build, or torch."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


schemas = load("hstujit_schemas", HERE / "hstujit/torch/schemas.py")
describe = load("hstujit_describe", HERE / "hstujit/_describe.py")

TORCH_DTYPES = {"f32": ("torch_f32()", "torch.float32"), "i32": ("torch_i32()", "torch.int32")}
INTEGERS = {
    "seq_offsets", "offsets", "offsets_left", "offsets_right", "q_offsets", "page_offsets", "page_ids", "last_page_lens",
    "num_targets", "num_contexts", "intervals", "lengths", "lengths_left", "lengths_right", "timestamps", "query_time",
    "valid_rows", "keys",
}  # fmt: skip
MUTABLE = re.compile(r"Tensor\(\w!\)(\??)")


class MismatchError(Exception):
    """The table and the library do not fit together."""


@dataclass(frozen=True)
class Argument:
    """One argument of a signature."""

    type: str
    name: str
    default: str | None
    keyword: bool

    @property
    def text(self) -> str:
        """As the signature has it."""
        return f"{self.type} {self.name}" + ("" if self.default is None else f"={self.default}")

    @property
    def is_tensor(self) -> bool:
        """One tensor, there or not."""
        return self.type in ("Tensor", "Tensor?") or bool(MUTABLE.fullmatch(self.type))

    @property
    def optional(self) -> bool:
        """Whether it may be absent."""
        return self.type.endswith("?")


def parse(signature: str) -> list[Argument]:
    """The arguments of a signature."""
    out, keyword = [], False
    for part in (part.strip() for part in re.split(r",(?![^\[]*\])", signature)):
        if part == "*":
            keyword = True
            continue
        type_, _, rest = part.partition(" ")
        name, equals, default = rest.partition("=")
        out.append(Argument(type_, name, default if equals else None, keyword))
    return out


def signature_of(arguments: list[Argument]) -> str:
    """The arguments as torch's schema language has them."""
    parts, star = [], False
    for argument in arguments:
        if argument.keyword and not star:
            parts.append("*")
            star = True
        parts.append(argument.text)
    return ", ".join(parts)


def out_variant(op: Any) -> Any:
    """`<name>_out`: results become arguments that are written, and what only made them goes."""
    arguments = [a for a in parse(op.signature) if a.name not in made_from(op)]
    accumulates = "accumulate" in op.unused
    if accumulates:
        arguments.append(Argument("int", "accumulate", "0", True))
    for letter, result in zip("abcdefgh", op.results, strict=False):
        optional = bool(result.when)
        arguments.append(Argument(f"Tensor({letter}!)" + "?" * optional, result.name, "None" if optional else None, True))
    return schemas.Op(
        name=f"{op.name}_out",
        signature=signature_of(arguments),
        results=(),
        function=op.c_name,
        unused={name: why for name, why in op.unused.items() if name != "accumulate"},
        written=tuple(result.name for result in op.results),
        paths=op.paths,
    )


def made_from(op: Any) -> set[str]:
    """Arguments that serve results alone."""
    return {a.name for a in parse(op.signature) if a.type.startswith(("ScalarType", "bool["))}


def all_operators() -> list[Any]:
    """The table with its variants."""
    out = []
    for op in schemas.OPERATORS:
        out.append(op)
        if op.out:
            out.append(out_variant(op))
    return out


# ------------------------------------------------------------------------------------------------------------------ C++

SCALARS = {"int": "integer", "SymInt": "integer", "float": "number", "bool": "flag"}
C_TYPES = {"f32": "float", "f64": "double", "i32": "int32_t", "i64": "int64_t", "enum": "int32_t"}


def cpp_shape(shape: str) -> str:
    """A shape in Python as one in C++."""
    return "Shape{" + shape[1:-1] + "}" if shape.startswith("[") else shape


def cpp_dtype(op: Any, result: Any) -> str:
    """torch's dtype of a result."""
    names = {a.name: a for a in parse(op.signature)}
    first, _, second = result.dtype.partition(" or ")
    if first in TORCH_DTYPES:
        return TORCH_DTYPES[first][0]
    if not second:
        return f"{first}.dtype" if names[first].is_tensor else first
    if names[first].is_tensor:
        return f"{first} ? {first}.dtype : {second}.dtype"
    return f"{first}.value_or({second}.dtype)"


def cpp_take(op: Any, at: int, argument: Argument) -> str:
    """The line that takes an argument off the stack."""
    place = f'{{{at}, "{argument.name}"}}'
    if MUTABLE.fullmatch(argument.type):
        how = f"call.written{'_or_none' if argument.optional else ''}({place})"
    elif argument.type == "Tensor[]":
        how = f"call.tensors({place})"
    elif argument.is_tensor:
        how = f"call.tensor{'_or_none' if argument.optional else ''}({place})"
    elif argument.type.startswith("ScalarType"):
        how = f"call.dtype{'_or_none' if argument.optional else ''}({place})"
    elif argument.type.startswith("bool["):
        how = f"call.flags<{argument.type[5:-1]}>({place})"
    else:
        how = f"call.{SCALARS[argument.type]}({place})"
    return f"  const auto {argument.name} = {how};"


class Target:
    """Where arguments go: the struct of an operator, by offsets, or that of a chain, by member paths."""

    def __init__(self, op: Any, description: Any | None) -> None:
        self.op, self.description = op, description
        self.members = {m.name: m for m in description.members} if description else {}
        self.filled: set[str] = set()

    def has(self, name: str) -> bool:
        """Whether an argument fills a member."""
        return name in self.members or name in (self.op.paths or {})

    def tensor(self, name: str) -> str:
        """The line that fills a member with a tensor."""
        self.filled.add(name)
        if self.description:
            return f"put(&args, {self.members[name].offset}, {name}.view);"
        return f"args.{self.op.paths[name]} = {name}.view;"

    def tensors(self, name: str) -> str:
        """The line that fills a member of each layer."""
        self.filled.add(name)
        struct, _, member = self.op.paths[name].partition(".")
        kind = "hstu_fp8_layer_weights" if struct == "fp8_layers" else "hstu_layer_weights"
        return f"{struct}.put(&{kind}::{member}, {name});"

    def scalar(self, argument: Argument) -> str:
        """The line that fills a member with a number."""
        self.filled.add(argument.name)
        if self.description:
            member = self.members[argument.name]
            kind = C_TYPES.get(member.kind)
            if kind is None or (argument.type == "float") != (kind in ("float", "double")):
                raise MismatchError(f"{self.op.name}: {argument.text} fills a member of kind {member.kind}")
            return f'put(&args, {member.offset}, narrow<{kind}>(call, "{argument.name}", {argument.name}));'
        path = f"args.{self.op.paths[argument.name]}"
        return f'set(call, "{argument.name}", {path}, {argument.name});'

    def missing(self) -> set[str]:
        """Members that nothing fills, without a reason."""
        if self.description:
            expected = {m.name for m in self.description.members if m.kind not in ("workspace", "workspace_size")}
        else:
            expected = set(self.op.paths)
        return expected - self.filled - set(self.op.unused)


def cpp_workspace(op: Any, description: Any | None) -> list[str]:
    """The lines that give a call its workspace."""
    if description and not description.workspace:
        return []
    ask = f"hstu_{op.c_name}_workspace_size"
    context = "call.context(), " if description else ""
    lines = ["  size_t bytes = 0;", f"  call.check({ask}({context}&args, &bytes));"]
    if description:
        at = {m.kind: m.offset for m in description.members}
        lines += [
            f"  put(&args, {at['workspace']}, call.workspace(bytes));",
            f"  put(&args, {at['workspace_size']}, bytes);",
        ]
    else:
        lines += ["  args.workspace = call.workspace(bytes);", "  args.workspace_size = bytes;"]
    return lines


def cpp_function(op: Any, description: Any | None) -> str:
    """The marshalling of one operator."""
    target = Target(op, description)
    arguments = parse(op.signature)
    lines = [f"void {op.name}(StableIValue* stack, uint64_t, uint64_t) {{", f'  Call call("{op.name}", stack);']
    lines += [cpp_take(op, at, argument) for at, argument in enumerate(arguments)]
    lines.append("  call.ready();")
    lines.append(f"  hstu_{op.c_name}_args args{{}};")
    if description:
        lines.append(f"  static_assert(sizeof args == {description.args_size});")
    lines.append("  args.struct_size = sizeof args;")
    if any(a.type == "Tensor[]" for a in arguments):
        lines += ["  LayerList<hstu_layer_weights> layers(call);", "  LayerList<hstu_fp8_layer_weights> fp8_layers(call);"]
    for argument in arguments:
        if not target.has(argument.name):
            if not any(argument.name in result.shape + result.dtype + result.when for result in op.results):
                raise MismatchError(f"{op.name}: the argument {argument.name} is no member and serves no result")
        elif argument.type == "Tensor[]":
            lines.append("  " + target.tensors(argument.name))
        elif argument.is_tensor:
            lines.append("  " + target.tensor(argument.name))
        else:
            lines.append("  " + target.scalar(argument))
    if any(a.type == "Tensor[]" for a in arguments):
        lines.append("  put_layers(args, layers, fp8_layers);")
    for result in op.results:
        made = f'call.fresh("{result.name}", {cpp_shape(result.shape)}, {cpp_dtype(op, result)})'
        put = target.tensor(result.name)
        if result.when:
            # Of a result that is not wanted, its dtype's source may be absent.
            nothing = f'call.nothing("{result.name}", {arguments[0].name}.dtype)'
            lines += [
                f"  const Argument {result.name} = {result.when} ? {made} : {nothing};",
                f"  if ({result.when}) {put}",
            ]
        else:
            lines += [f"  const Argument {result.name} = {made};", f"  {put}"]
    if left := target.missing():
        raise MismatchError(f"{op.name}: nothing fills {', '.join(sorted(left))} of hstu_{op.c_name}_args; see `unused`")
    lines += cpp_workspace(op, description)
    lines.append(f"  call.run<hstu_{op.c_name}_args>(hstu_{op.c_name}, &args);")
    lines += [f"  call.give({at}, {result.name});" for at, result in enumerate(op.results)]
    lines.append("}")
    return "\n".join(lines)


def schema_of(op: Any) -> str:
    """The whole schema."""
    count = len(op.results)
    results = "Tensor" if count == 1 else "(" + ", ".join(["Tensor"] * count) + ")"
    return f"{op.name}({signature_of(parse(op.signature))}) -> {results}"


def cpp(operators: list[Any], descriptions: dict[str, Any]) -> str:
    """The file that torch_ops.cpp includes."""
    out = ["// Generated by python/generate.py from hstujit/torch/schemas.py and hstu_operator_describe.", ""]
    for op in operators:
        out += [cpp_function(op, None if op.paths is not None else descriptions[op.c_name]), ""]
    out += ["constexpr Operator kOperators[] = {"]
    out += [f'    {{"{op.name}",\n     "{schema_of(op)}",\n     {op.name}}},' for op in operators]
    out += ["};", ""]
    return "\n".join(out)


# --------------------------------------------------------------------------------------------------------------- Python

PYTHON_TYPES: dict[str, str] = {
    "Tensor": "Tensor", "Tensor?": "Tensor | None", "Tensor[]": "Sequence[Tensor]", "int": "int", "SymInt": "int",
    "float": "float", "bool": "bool", "ScalarType": "torch.dtype", "ScalarType?": "torch.dtype | None",
}  # fmt: skip


def python_type(argument: Argument) -> str:
    """An argument's annotation."""
    if found := MUTABLE.fullmatch(argument.type):
        return PYTHON_TYPES[f"Tensor{found.group(1)}"]
    if argument.type.startswith("bool["):
        return "Sequence[bool]"
    return PYTHON_TYPES[argument.type]


def python_default(argument: Argument) -> str:
    """An argument's default, as source text."""
    if argument.default is None:
        return ""
    return " = " + ("()" if argument.type == "Tensor[]" else argument.default)


def python_parameters(op: Any) -> str:
    """The parameters of a function, one a line."""
    lines, star = [], False
    for argument in parse(op.signature):
        if argument.keyword and not star:
            lines.append("    *,")
            star = True
        lines.append(f"    {argument.name}: {python_type(argument)}{python_default(argument)},")
    return "\n".join(lines)


def python_result(op: Any) -> str:
    """The annotation of what comes back."""
    if not op.results:
        return "None"
    return "Tensor" if len(op.results) == 1 else "tuple[" + ", ".join(["Tensor"] * len(op.results)) + "]"


def python_dtype(op: Any, result: Any) -> str:
    """A result's dtype in Python."""
    names = {a.name: a for a in parse(op.signature)}
    first, _, second = result.dtype.partition(" or ")
    if first in TORCH_DTYPES:
        return TORCH_DTYPES[first][1]
    tensor = names[first].is_tensor
    if not second:
        return (f"given({first}).dtype" if names[first].optional else f"{first}.dtype") if tensor else first
    return f"(given({second}) if {first} is None else {first}).dtype" if tensor else f"{first} or given({second}).dtype"


def python_shape(op: Any, result: Any) -> str:
    """A result's shape in Python: optional tensors are there where it is read."""
    shape: str = result.shape
    for argument in parse(op.signature):
        if argument.type == "Tensor?":
            shape = re.sub(rf"\b{argument.name}\.size", f"given({argument.name}).size", shape)
    return shape


def fakes(operators: list[Any]) -> str:
    """The module with the fake kernels."""
    out = [
        '"""Fake kernels: the shapes and types of results without data. Generated by python/generate.py from schemas.py."""',
        "",
        "# ruff: noqa",
        "from __future__ import annotations",
        "",
        "from collections.abc import Callable, Sequence",
        "",
        "import torch",
        "from torch import Tensor",
        "",
        "from .shapes import ceil_div, concat_2d_shape, flash_lse, fp8_units, norm_mul_segments, rows, with_first, with_last",
        "",
        "",
        "def given(t: Tensor | None) -> Tensor:",
        '    """The tensor that a result has its shape or type from."""',
        "    if t is None:",
        '        raise ValueError("an argument is absent, and a result has its shape or type from it")',
        "    return t",
        "",
        "",
    ]
    for op in operators:
        first = parse(op.signature)[0].name
        out += [f"def {op.name}(", python_parameters(op), f") -> {python_result(op)}:"]
        made = []
        for result in op.results:
            text = f"{first}.new_empty({python_shape(op, result)}, dtype={python_dtype(op, result)})"
            made.append(f"{text} if {result.when} else {first}.new_empty([0])" if result.when else text)
        out += ["    return None" if not made else "    return (\n" + "".join(f"        {m},\n" for m in made) + "    )"
                if len(made) > 1 else f"    return {made[0]}", "", ""]  # fmt: skip
    out += ["KERNELS: dict[str, Callable[..., object]] = {"] + [f'    "{op.name}": {op.name},' for op in operators] + ["}", ""]
    return "\n".join(out)


def comments(include: Path) -> dict[str, str]:
    """What the public headers say of each function: the comment above its args struct."""
    out = {}
    for header in sorted(include.glob("hstujit/*.h")):
        text = header.read_text()
        for found in re.finditer(r"/\*\*((?:(?!\*/).)*)\*/\s*typedef struct hstu_(\w+)_args \{", text, re.S):
            lines = [re.sub(r"^ \* ?", "", line) for line in found.group(1).strip("\n").split("\n")]
            out[found.group(2)] = "\n".join(line.rstrip() for line in lines).strip()
    return out


def needs_gradient(op: Any) -> list[str]:
    """For each tensor of a call: whether it needs a gradient."""
    out = []
    for a in parse(op.signature):
        if a.type == "Tensor[]":
            out.append(f"any(t.requires_grad for t in {a.name})")
        elif a.is_tensor and a.name not in INTEGERS:
            out.append(f"({a.name} is not None and {a.name}.requires_grad)" if a.optional else f"{a.name}.requires_grad")
    return out


def functions(operators: list[Any], include: Path) -> str:
    """The module with the typed functions."""
    said = comments(include)
    out = [
        '"""Every operator as a typed function. Generated by python/generate.py from schemas.py and the public headers.',
        "",
        "They are torch.ops.hstujit.<name>, with errors as hstujit.Error. They record no gradients and refuse tensors that",
        "need one; hstujit.torch has those that do. Results are fresh and contiguous. What the C headers say of each follows;",
        "where a result has rows behind the last sequence, these hold whatever was in that memory. An absent tensor is None,",
        'and HSTU_EXACT_ZERO is -0.0."""',
        "",
        "# ruff: noqa",
        "from __future__ import annotations",
        "",
        "from collections.abc import Sequence",
        "",
        "import torch",
        "from torch import Tensor",
        "",
        "from .._errors import no_gradient, translated",
        "from . import _load as _load  # torch.ops.hstujit is there after it",
        "",
        "__all__ = [",
        *(f'    "{op.name}",' for op in operators if not op.gradient),  # the others are those of autograd.py
        "]",
        "",
        *(f"_{op.name} = torch.ops.hstujit.{op.name}.default" for op in operators),
        "",
        "",
    ]
    for op in operators:
        summary = f"torch.ops.hstujit.{op.name}: calls hstu_{op.c_name}."
        if op.results:
            summary += " Gives " + ", ".join(r.name + (f" (if {r.when})" if r.when else "") for r in op.results) + "."
        elif op.written:
            summary += " Writes " + ", ".join(op.written) + "."
        doc = textwrap.indent(said[op.c_name].replace("\\", "\\\\"), "    ", lambda line: bool(line.strip()))
        names = ", ".join(f"{a.name}={a.name}" if a.keyword else a.name for a in parse(op.signature))
        out += [
            f"def {op.name}(",
            python_parameters(op),
            f") -> {python_result(op)}:",
            f'    """{summary}',
            "",
            doc,
            '    """',
            *(
                [
                    "    if torch.is_grad_enabled() and (" + " or ".join(needs_gradient(op)) + "):",
                    f'        raise no_gradient("{op.name}")',
                ]
                if needs_gradient(op)
                else []
            ),
            "    try:",
            f"        {'return ' if op.results else ''}_{op.name}({names})"
            + ("  # type: ignore[no-any-return]" if op.results else ""),
            "    except RuntimeError as error:",
            "        raise translated(error) from None",
            "",
            "",
        ]
    return "\n".join(out).rstrip("\n") + "\n"


def check(operators: list[Any], descriptions: dict[str, Any]) -> None:
    """Every operator of the library has a line."""
    called = {op.c_name for op in operators if op.paths is None}
    if missing := set(descriptions) - called:
        raise MismatchError(f"hstujit/torch/schemas.py has no line for {', '.join(sorted(missing))}")
    if unknown := called - set(descriptions):
        raise MismatchError(f"the library has no {', '.join(sorted(unknown))}")


def write(path: Path, text: str) -> None:
    """Writes what changed alone, so that nothing is compiled again without need."""
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Writes what follows from hstujit/torch/schemas.py")
    parser.add_argument("--library", type=Path, required=True, help="libhstujit.so, which describes its operators")
    parser.add_argument("--include", type=Path, required=True, help="folder of hstujit/*.h, whose comments become docstrings")
    parser.add_argument("--cpp", type=Path, required=True, help="the C++ file to write")
    parser.add_argument("--package", type=Path, required=True, help="folder for ops.py and _fakes.py")
    given = parser.parse_args()
    operators = all_operators()
    descriptions = {d.name: d for d in describe.describe(given.library)}
    try:
        check(operators, descriptions)
        write(given.cpp, cpp(operators, descriptions))
    except MismatchError as mismatch:
        sys.exit(f"generate.py: {mismatch}")
    write(given.package / "_fakes.py", fakes(operators))
    write(given.package / "ops.py", functions(operators, given.include))


if __name__ == "__main__":
    main()
