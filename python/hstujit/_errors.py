"""hstujit.Error and its kinds: each is also the Python type that one expects."""

from __future__ import annotations

import enum
import re


class Status(enum.IntEnum):
    """hstu_status."""

    OK = 0
    INVALID_ARGUMENT = 1
    SHAPE_MISMATCH = 2
    UNSUPPORTED_DTYPE = 3
    UNSUPPORTED = 4
    NOT_READY = 5
    STREAM_CAPTURING = 6
    COMPILE = 7
    TUNING = 8
    DEVICE = 9
    STORE = 10
    OUT_OF_MEMORY = 11
    INTERNAL = 12


class Error(Exception):
    """What the library refused or could not do.

    status  the C status
    field   the argument that the text begins with, "" where it names none
    """

    status: Status
    field: str

    def __init__(self, text: str, status: Status = Status.INTERNAL, field: str = "") -> None:
        super().__init__(text)
        self.status = status
        self.field = field


class InvalidArgument(Error, ValueError):
    """INVALID_ARGUMENT or SHAPE_MISMATCH."""


class UnsupportedType(Error, TypeError):
    """UNSUPPORTED_DTYPE."""


class Unsupported(Error, NotImplementedError):
    """UNSUPPORTED: no kernel covers the problem on this device."""


class OutOfMemory(Error, MemoryError):
    """OUT_OF_MEMORY, of the host or the device."""


class Failed(Error, RuntimeError):
    """Everything else: NOT_READY, STREAM_CAPTURING, COMPILE, TUNING, DEVICE, STORE, INTERNAL."""


_KINDS: dict[Status, type[Error]] = {
    Status.INVALID_ARGUMENT: InvalidArgument,
    Status.SHAPE_MISMATCH: InvalidArgument,
    Status.UNSUPPORTED_DTYPE: UnsupportedType,
    Status.UNSUPPORTED: Unsupported,
    Status.OUT_OF_MEMORY: OutOfMemory,
}
_OF_AN_OPERATOR = re.compile(r"hstujit\.(\w+): (.*) \[HSTU_ERROR_(\w+)\]", re.DOTALL)
_FIELD = re.compile(r"([a-z_]\w*)(?:[.\[ ,:]|$)")


def error_of(status: int, text: str, op: str = "") -> Error:
    """The exception for a status and hstu_last_error's text."""
    kind = Status(status) if status in Status.__members__.values() else Status.INTERNAL
    found = _FIELD.match(text)
    shown = f"{op}: {text}" if op else text
    return _KINDS.get(kind, Failed)(shown, kind, found.group(1) if found else "")


def translated(error: Exception) -> Exception:
    """An exception of an operator as hstujit.Error; any other as it is."""
    found = _OF_AN_OPERATOR.search(str(error))
    if not found or isinstance(error, Error):
        return error
    op, text, status = found.groups()
    return error_of(Status[status], text, op)


def no_gradient(op: str) -> Error:
    """What an operator says that is to record a gradient and has none."""
    text = f"{op}: it records no gradient, and an argument requires one; call it under torch.no_grad(), or detach them"
    return Unsupported(text, Status.UNSUPPORTED)
