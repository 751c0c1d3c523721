"""hstu_operator_describe in Python: what each operator's args struct holds."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from pathlib import Path

KINDS = ("input", "integers", "output", "f32", "f64", "i32", "i64", "enum", "workspace", "workspace_size")


class _CMember(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("offset", ctypes.c_size_t),
        ("size", ctypes.c_size_t),
        ("kind", ctypes.c_int),
        ("optional", ctypes.c_int32),
        ("accumulates", ctypes.c_int32),
        ("dtypes", ctypes.c_uint32),
        ("free_strides", ctypes.c_int8 * 8),
        ("default_value", ctypes.c_double),
        ("words", ctypes.POINTER(ctypes.c_char_p)),
        ("num_words", ctypes.c_size_t),
    )


class _CDescription(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_char_p),
        ("args", ctypes.c_char_p),
        ("workspace", ctypes.c_char_p),
        ("args_size", ctypes.c_size_t),
        ("members", ctypes.c_void_p),
        ("num_members", ctypes.c_size_t),
        ("member_size", ctypes.c_size_t),
    )


@dataclass(frozen=True)
class Member:
    """A member of an args struct, as hstu_member has it; `kind` is one of KINDS."""

    name: str
    offset: int
    size: int
    kind: str
    optional: bool
    accumulates: bool
    dtypes: int
    default: float
    words: tuple[str, ...]


@dataclass(frozen=True)
class Description:
    """An operator, as hstu_operator_description has it."""

    name: str
    function: str
    args: str
    workspace: str | None
    args_size: int
    members: tuple[Member, ...]


def _member(c: _CMember) -> Member:
    words = tuple(c.words[i].decode() for i in range(c.num_words))
    return Member(c.name.decode(), c.offset, c.size, KINDS[c.kind], bool(c.optional), bool(c.accumulates), c.dtypes,
                  c.default_value, words)  # fmt: skip


def _description(c: _CDescription) -> Description:
    members = (_CMember.from_address(c.members + i * c.member_size) for i in range(c.num_members))
    workspace = c.workspace.decode() if c.workspace else None
    return Description(c.name.decode(), c.function.decode(), c.args.decode(), workspace, c.args_size,
                       tuple(_member(m) for m in members))  # fmt: skip


def describe(library: str | Path | ctypes.CDLL) -> tuple[Description, ...]:
    """Every operator of the library."""
    lib = library if isinstance(library, ctypes.CDLL) else ctypes.CDLL(str(library))
    lib.hstu_operator_name.restype = ctypes.c_char_p
    lib.hstu_operator_name.argtypes = [ctypes.c_int32]
    lib.hstu_operator_describe.argtypes = [ctypes.POINTER(ctypes.POINTER(_CDescription)), ctypes.c_char_p]
    out = []
    for index in range(lib.hstu_operator_count()):
        found = ctypes.POINTER(_CDescription)()
        status = lib.hstu_operator_describe(ctypes.byref(found), lib.hstu_operator_name(index))
        if status != 0:
            raise RuntimeError(f"hstu_operator_describe of operator {index}: status {status}")
        out.append(_description(found.contents))
    return tuple(out)
