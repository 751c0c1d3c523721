"""hstujit.patch on small modules that stand for the sources."""

from __future__ import annotations

import importlib
import importlib.util
import logging
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
import torch
from references import mha, offsets_of
from samples import rand
from torch import Tensor

import hstujit
from hstujit.compat import generative_recommenders as compat
from hstujit.compat.table import SOURCES

OFFSETS = offsets_of([4, 3])
CALL = {"max_seq_len": 4, "alpha": 0.5, "q": rand(7, 2, 8), "k": rand(7, 2, 8, seed=1), "v": rand(7, 2, 8, seed=2)}
CALL |= {"seq_offsets": OFFSETS}


def attended() -> Tensor:
    return mha(CALL["q"], CALL["k"], CALL["v"], OFFSETS, alpha=0.5, divisor=4)


SOURCE = {
    "generative_recommenders": "",
    "generative_recommenders.ops": "",
    "generative_recommenders.ops.hstu_attention": """
def hstu_mha(*args, **kwargs):
    return "original", kwargs.get("dropout_pr", 0.0)

def delta_hstu_mha(*args, **kwargs):
    return "original"
""",
    "generative_recommenders.modules": "",
    "generative_recommenders.modules.stu": """
from generative_recommenders.ops.hstu_attention import hstu_mha

class STULayer:
    def forward(self, **kwargs):
        return hstu_mha(**kwargs)
""",
    "a_model": """
from generative_recommenders.ops import hstu_attention
from generative_recommenders.ops.hstu_attention import hstu_mha as attention

def forward(**kwargs):
    return attention(**kwargs), hstu_attention.hstu_mha(**kwargs)
""",
}


@pytest.fixture
def modules() -> Iterator[dict[str, ModuleType]]:
    made: dict[str, ModuleType] = {}
    for name, text in SOURCE.items():
        module = made[name] = sys.modules[name] = ModuleType(name)
        module.__path__ = []  # type: ignore[attr-defined]
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(made[parent], child, module)
        exec(text, vars(module))
    yield made
    for name in made:
        del sys.modules[name]


def test_every_module_that_imported_a_function_gets_ours(modules: dict[str, ModuleType]) -> None:
    before = {name: dict(vars(module)) for name, module in modules.items()}
    done = hstujit.patch("generative_recommenders")
    assert sorted(done.replaced) == [
        "a_model.attention",
        "generative_recommenders.modules.stu.hstu_mha",
        "generative_recommenders.ops.hstu_attention.delta_hstu_mha",
        "generative_recommenders.ops.hstu_attention.hstu_mha",
    ]
    assert "generative_recommenders.ops.mm.addmm" in done.missing
    assert modules["a_model"].attention is compat.hstu_mha  # type: ignore[attr-defined]
    for got in (*modules["a_model"].forward(**CALL), modules["generative_recommenders.modules.stu"].STULayer().forward(**CALL)):
        torch.testing.assert_close(got, attended(), atol=2e-5, rtol=2e-5)
    later: dict[str, Any] = {}
    exec("from generative_recommenders.ops.hstu_attention import hstu_mha", later)
    assert later["hstu_mha"] is compat.hstu_mha
    done.undo()
    assert {name: dict(vars(module)) for name, module in modules.items()} == before
    done.undo()
    assert modules["a_model"].forward(**CALL) == (("original", 0.0), ("original", 0.0))


def test_only_some_within_a_block(modules: dict[str, ModuleType]) -> None:
    operators = modules["generative_recommenders.ops.hstu_attention"]
    original = operators.hstu_mha  # type: ignore[attr-defined]
    with hstujit.patch("generative_recommenders", only=["delta_hstu_mha"]) as done:
        assert done.replaced == ("generative_recommenders.ops.hstu_attention.delta_hstu_mha",)
        assert operators.hstu_mha is original  # type: ignore[attr-defined]
    assert operators.delta_hstu_mha() == "original"  # type: ignore[attr-defined]


def test_what_was_set_since_stays(modules: dict[str, ModuleType], caplog: pytest.LogCaptureFixture) -> None:
    done = hstujit.patch("generative_recommenders")
    modules["a_model"].attention = "mine"  # type: ignore[attr-defined]
    with caplog.at_level(logging.WARNING, logger="hstujit"):
        done.undo()
    assert modules["a_model"].attention == "mine"  # type: ignore[attr-defined]
    assert "a_model.attention was changed" in caplog.text


def test_the_original_runs_where_ours_has_nothing(modules: dict[str, ModuleType], caplog: pytest.LogCaptureFixture) -> None:
    with hstujit.patch("generative_recommenders"), pytest.raises(NotImplementedError, match="dropout_pr"):
        modules["a_model"].forward(**CALL, dropout_pr=0.5)
    with hstujit.patch("generative_recommenders", fallback=True), caplog.at_level(logging.WARNING, logger="hstujit"):
        assert modules["a_model"].forward(**CALL, dropout_pr=0.5) == (("original", 0.5), ("original", 0.5))
        torch.testing.assert_close(modules["a_model"].forward(**CALL)[0], attended(), atol=2e-5, rtol=2e-5)
        with pytest.raises(ValueError, match="max_seq_len"):  # a mistake is nobody else's to answer
            modules["a_model"].forward(**(CALL | {"max_seq_len": -1}))
    assert caplog.text.count("the original runs") == 1


def test_ours_stay_ours(modules: dict[str, ModuleType]) -> None:
    with hstujit.patch("generative_recommenders") as done:
        assert not [name for name in done.replaced if name.startswith("hstujit")]
        assert hstujit.patch("generative_recommenders").replaced == ()


@pytest.mark.parametrize("source", ["hstu", "hstu_attn", "triton_ops", "tzrec", "generative_recommenders"])
def test_a_source_that_is_not_installed_has_a_stand_in(source: str) -> None:
    if importlib.util.find_spec(source):
        pytest.skip(f"{source} is installed")
    table = next(each for each in SOURCES if each.name == source)
    names = [f for f in table.functions if "." not in f.name]
    before = set(sys.modules)
    with hstujit.patch(source, stand_in=True) as done:
        assert done.replaced == tuple(f"{f.module}.{f.name}" for f in names)
        for function in names:
            space: dict[str, Any] = {}
            exec(f"from {function.module} import {function.name} as found", space)
            assert space["found"] is getattr(importlib.import_module(f"hstujit.compat.{source}"), function.name)
        for empty in table.empty:
            exec(f"import {empty}", {})
        again = hstujit.patch(source, stand_in=True)
        assert again.replaced == ()
        again.undo()
    assert not {name for name in set(sys.modules) - before if name.partition(".")[0] == source}
    with pytest.raises(ModuleNotFoundError):
        exec(f"import {source}", {})


def test_a_stand_in_is_not_for_what_is_there(modules: dict[str, ModuleType]) -> None:
    original = modules["generative_recommenders.ops.hstu_attention"]
    with hstujit.patch("generative_recommenders", stand_in=True) as done:
        assert sys.modules["generative_recommenders.ops.hstu_attention"] is original
        assert "a_model.attention" in done.replaced


def test_what_is_not_known_or_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="source: 'fbgemm' is not one of generative_recommenders, hstu"):
        hstujit.patch("fbgemm")
    with pytest.raises(ValueError, match=r"only: hstujit\.compat\.hstu has no hstu_mha"):
        hstujit.patch("hstu", only=["hstu_mha"])
    if importlib.util.find_spec("tzrec"):
        pytest.skip("tzrec is installed")
    with pytest.raises(ValueError, match=r"source: nothing of tzrec can be imported.*ModuleNotFoundError"):
        hstujit.patch("tzrec")
