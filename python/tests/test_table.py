"""The table of torch's operators, the library's description and what is generated from both fit together."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import hstujit
from hstujit import _describe, _library, enums
from hstujit.torch import _fakes, ops, schemas

PYTHON = Path(__file__).resolve().parent.parent
DESCRIPTIONS = {d.name: d for d in _describe.describe(_library.library())}
ENUMS = {
    "activation": enums.Activation,
    "mask": enums.Mask,
    "norm": enums.Norm,
    "dropout_stream": enums.DropoutStream,
    "scaling": enums.Fp8Scaling,
    "accumulation": enums.Fp8Accumulation,
    "time_bucket_fn": enums.TimeBucketFn,
    "determinism": enums.Determinism,
}


def test_every_operator_of_the_library_is_there() -> None:
    assert set(DESCRIPTIONS) <= {op.c_name for op in schemas.OPERATORS}
    for name in _fakes.KERNELS:
        assert hasattr(torch.ops.hstujit, name)


def test_members_without_an_argument_are_members_with_a_reason() -> None:
    for op in schemas.OPERATORS:
        if op.paths is None:
            assert set(op.unused) <= {m.name for m in DESCRIPTIONS[op.c_name].members}
            assert all(op.unused.values())


@pytest.mark.parametrize("name", list(_fakes.KERNELS))
def test_typed_functions_have_the_signature_of_the_schema(name: str) -> None:
    schema = getattr(torch.ops.hstujit, name).default._schema
    function = inspect.signature(getattr(ops, name))
    assert [a.name for a in schema.arguments] == list(function.parameters)
    for argument in schema.arguments:
        parameter = function.parameters[argument.name]
        assert argument.kwarg_only == (parameter.kind is inspect.Parameter.KEYWORD_ONLY)
        assert argument.has_default_value() == (parameter.default is not inspect.Parameter.empty)
        if argument.has_default_value():
            assert argument.default_value == parameter.default


@pytest.mark.parametrize("name", list(_fakes.KERNELS))
def test_typed_functions_say_what_they_do(name: str) -> None:
    text = getattr(ops, name).__doc__
    assert text.startswith(f"torch.ops.hstujit.{name}: calls hstu_")
    assert len(text.splitlines()) > 4


def test_enums_are_those_of_the_library() -> None:
    seen = set()
    for description in DESCRIPTIONS.values():
        for member in description.members:
            kind = ENUMS.get(member.name)
            if member.kind != "enum" or kind is None or (description.name, member.name) == ("attention_fp8", "scaling"):
                continue
            seen.add(member.name)
            words = [word.upper() for word in member.words]
            assert [e.name if e.name != "SUMS_OF_128" else "128" for e in kind][: len(words)] == words
    assert seen == set(ENUMS)
    scaling = next(m for m in DESCRIPTIONS["attention_fp8"].members if m.name == "scaling")
    assert [e.name for e in enums.Fp8AttentionScaling] == [word.upper() for word in scaling.words]


def test_statuses_are_those_of_the_library() -> None:
    import ctypes

    name = _library.library().hstu_status_name
    name.restype = ctypes.c_char_p
    assert [name(s.value).decode() for s in hstujit.Status][1:] == [f"HSTU_ERROR_{s.name}" for s in hstujit.Status][1:]
    assert name(len(hstujit.Status)).decode() == "HSTU_STATUS_UNKNOWN"


def generate(to: Path) -> dict[str, str]:
    library = _library.PACKAGE / "lib/libhstujit.so.0"
    command = [sys.executable, str(PYTHON / "generate.py"), "--library", str(library)]
    command += ["--include", hstujit.include_dir(), "--cpp", str(to / "operators.inc"), "--package", str(to)]
    subprocess.run(command, check=True)
    return {path.name: path.read_text() for path in sorted(to.iterdir())}


def test_the_generator_gives_the_same_text_again(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first = generate(tmp_path / "a")
    assert first == generate(tmp_path / "b")
    assert set(first) == {"_fakes.py", "operators.inc", "ops.py"}
    assert first["ops.py"] == (_library.PACKAGE / "torch/ops.py").read_text()


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        ("float eps=0.0", "float epsilon=0.0", "layer_norm: the argument epsilon is no member and serves no result"),
        ('        "softmax",', '        "softmax_of_rows",', "no line for softmax"),
        ("bool log=False", "float log=0.0", "softmax: float log=0.0 fills a member of kind i32"),
        (', "moments": "the operator layer_norm_with_moments has them"', "", "layer_norm: nothing fills moments"),
    ],
)
def test_the_generator_refuses_a_table_that_does_not_fit(tmp_path: Path, before: str, after: str, complaint: str) -> None:
    for name in ("generate.py", "hstujit/_describe.py", "hstujit/torch/schemas.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        text = (PYTHON / name).read_text()
        if name.endswith("schemas.py"):
            assert before in text
            text = text.replace(before, after)
        (tmp_path / name).write_text(text)
    command = [sys.executable, str(tmp_path / "generate.py"), "--library", str(_library.PACKAGE / "lib/libhstujit.so.0")]
    command += ["--include", hstujit.include_dir(), "--cpp", str(tmp_path / "x.inc"), "--package", str(tmp_path / "p")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert complaint in done.stderr
