"""hstujit.patch: the functions of `hstujit.compat` in the place of those of their source, in every module that has them."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import sys
from collections.abc import Callable, Collection
from types import ModuleType, TracebackType
from typing import Any

from ._errors import InvalidArgument, Status, Unsupported, UnsupportedType


def _warn(text: str, *values: object) -> None:
    import logging  # here, so that `import hstujit` takes less

    logging.getLogger("hstujit").warning(text, *values)


class Patch:
    """What was replaced. `undo()` puts it back, and so does the end of a `with` block.

    replaced  "module.attribute" of every attribute that was set, in order
    missing   "module.function" of what the source, as it is installed, lacks, with the reason
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.replaced: tuple[str, ...] = ()
        self.missing: dict[str, str] = {}
        self._set: list[tuple[ModuleType, str, Any, Any]] = []  # module, attribute, what was there, what is there now
        self._made: list[ModuleType] = []  # stand-ins

    def __repr__(self) -> str:
        return f"<hstujit.patch of {self.source}: {len(self._set)} attributes>"

    def __enter__(self) -> Patch:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.undo()

    def _put(self, module: ModuleType, attribute: str, value: object) -> None:
        self._set.append((module, attribute, vars(module)[attribute], value))
        setattr(module, attribute, value)

    def undo(self) -> None:
        """Puts back what was there. What was set to something else since stays; twice is once."""
        while self._set:
            module, attribute, before, ours = self._set.pop()
            if vars(module).get(attribute) is ours:
                setattr(module, attribute, before)
            else:
                _warn("hstujit.patch: %s.%s was changed after it was patched, and stays", module.__name__, attribute)
        while self._made:
            made = self._made.pop()
            if sys.modules.get(made.__name__) is made:
                del sys.modules[made.__name__]

    def _module(self, name: str) -> ModuleType:
        """A stand-in of a module, with its parents."""
        if name in sys.modules:
            return sys.modules[name]
        made = ModuleType(name, "A stand-in by hstujit.patch.")
        made.__path__ = []
        sys.modules[name] = made
        self._made.append(made)
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(self._module(parent), child, made)
        return made

    def _stand_in(self, table: Any, compat: ModuleType, only: Collection[str] | None) -> list[str]:
        """Makes the modules of a source that is not installed; gives the names of what they hold."""
        names = []
        for function in table.functions:
            if "." not in function.name and (only is None or function.name in only):
                setattr(self._module(function.module), function.name, getattr(compat, function.name))
                names.append(f"{function.module}.{function.name}")
        for empty in table.empty:
            self._module(empty)
        return names


def _originals(table: Any, only: Collection[str] | None) -> tuple[dict[str, Any], dict[str, str]]:
    """The source's functions by name, and what it lacks. Its modules are imported."""
    found: dict[str, Any] = {}
    missing: dict[str, str] = {}
    for function in table.functions:
        if "." in function.name or (only is not None and function.name not in only):
            continue
        try:
            found[function.name] = getattr(importlib.import_module(function.module), function.name)
        except (ImportError, AttributeError, OSError, RuntimeError) as error:  # a library that does not load is a RuntimeError
            missing[f"{function.module}.{function.name}"] = f"{type(error).__name__}: {error}"
    return found, missing


def _with_fallback(ours: Callable[..., Any], original: Callable[..., Any]) -> Callable[..., Any]:
    """Ours, and the original for calls that ours has nothing for."""
    told: set[str] = set()

    @functools.wraps(ours)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return ours(*args, **kwargs)
        except (Unsupported, UnsupportedType) as error:
            if str(error) not in told:
                told.add(str(error))
                _warn("%s: the original runs, because of %s", ours.__name__, error)
            return original(*args, **kwargs)

    return call


def _loaded() -> list[ModuleType]:
    """Every module that is not ours."""
    mine = __name__.partition(".")[0]
    return [
        module
        for name, module in list(sys.modules.items())
        if isinstance(module, ModuleType) and name.partition(".")[0] != mine
    ]


def _is_installed(table: Any) -> bool:
    root = table.functions[0].module.partition(".")[0]
    return root in sys.modules or importlib.util.find_spec(root) is not None


def patch(source: str, *, only: Collection[str] | None = None, fallback: bool = False, stand_in: bool = False) -> Patch:
    """Puts the functions of hstujit.compat.<source> in the place of the source's, in every loaded module.

    source    "generative_recommenders", "hstu", "hstu_attn", "tzrec" or "triton_ops"
    only      names of functions; None: all that hstujit.compat.<source> has
    fallback  calls that the operators have nothing for (NotImplementedError, TypeError of hstujit) run the original, and the
              log "hstujit" says so once for each reason
    stand_in  where the source is not installed, modules of its names that hold our functions and modules take its place, for
              code that imports it later

    The source's modules are imported, so that what is imported from them later is ours too. An attribute is replaced where it
    is the source's function itself, under whatever name. Classes stay: their methods find our functions where they look for
    the source's. References elsewhere (in a closure, a default, a functools.partial, a compiled graph) stay as they are.
    Raises hstujit.Error for a source or a function that is not known, or when none of the functions can be imported.
    """
    from .compat import table

    known = {each.name: each for each in table.SOURCES}
    if source not in known:
        text = f"source: {source!r} is not one of {', '.join(known)}"
        raise InvalidArgument(text, Status.INVALID_ARGUMENT, "source")
    functions = {f.name for f in known[source].functions}
    if unknown := set(only or ()) - functions:
        text = f"only: hstujit.compat.{source} has no {', '.join(sorted(unknown))}"
        raise InvalidArgument(text, Status.INVALID_ARGUMENT, "only")
    if stand_in and not _is_installed(known[source]):
        done = Patch(source)
        done.replaced = tuple(done._stand_in(known[source], importlib.import_module(f"hstujit.compat.{source}"), only))
        return done
    found, missing = _originals(known[source], only)
    if not found:
        reasons = "; ".join(f"{name}: {why}" for name, why in missing.items())
        raise InvalidArgument(f"source: nothing of {source} can be imported. {reasons}", Status.INVALID_ARGUMENT, "source")
    compat = importlib.import_module(f"hstujit.compat.{source}")
    replacements: dict[int, tuple[Any, Any]] = {}
    for name, original in found.items():
        ours = getattr(compat, name)
        if isinstance(original, type) or original is ours:
            continue
        replacements[id(original)] = (original, _with_fallback(ours, original) if fallback else ours)
    done = Patch(source)
    done.missing = missing
    names = []
    for module in _loaded():
        for attribute, value in list(vars(module).items()):
            original, ours = replacements.get(id(value), (None, None))
            if original is value and ours is not None:
                done._put(module, attribute, ours)
                names.append(f"{module.__name__}.{attribute}")
    done.replaced = tuple(names)
    return done
