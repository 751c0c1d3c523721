"""hstujit.tune and hstujit.bench, as far as a machine without a GPU has them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import hstujit
from hstujit import _measure

OPERATOR: dict[str, Any] = {
    "name": "attention", "problem": "attention bf16", "configuration": "attn_fwd_sm90 block_m=128", "seconds": 2e-3,
    "mad_seconds": 1e-5, "tflops": 400.0, "gbs": 500.0, "sm_mhz": 1900, "vendor_seconds": 0.0,
}  # fmt: skip
NORM = OPERATOR | {"name": "norm", "tflops": 2.0, "gbs": 3000.0, "vendor_seconds": 3e-3}
REPORT = {"operators": [OPERATOR, NORM], "yardsticks": {"copy_gbs": 4000.0, "product_tflops": 800.0}}
RUN = {"parts": [{"name": "attention"}], "check": {"passed": True, "relative_error": 1e-3, "tolerance": 1e-2}}


def test_rows_have_what_was_measured() -> None:
    first, second = _measure.rows_of(REPORT, RUN)
    assert (first.name, first.seconds, first.share, first.bound, first.correct) == ("attention", 2e-3, 0.5, "compute", True)
    assert (second.share, second.bound, second.correct) == (0.75, "memory", None)
    assert first.vendor_seconds is None
    assert second.vendor_seconds == 3e-3
    assert not _measure.rows_of(REPORT, RUN | {"check": {"passed": False}})[0].correct
    assert _measure.rows_of(REPORT, None)[0].correct is None
    assert _measure.rows_of({"operators": [OPERATOR]}, None)[0].share is None
    without_product = _measure.rows_of(REPORT | {"yardsticks": {"copy_gbs": 4000.0, "product_tflops": 0.0}}, None)
    assert without_product[0].bound == "memory"


def test_the_tool_is_asked_for_what_was_given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    calls: list[tuple[str, ...]] = []

    def run(*arguments: str, may_fail: bool = False) -> str:
        calls.append(arguments)
        if "--json" in arguments:
            report = REPORT if arguments[0] == "bench" else RUN
            Path(arguments[arguments.index("--json") + 1]).write_text(json.dumps(report))
        return "done"

    monkeypatch.setattr(_measure, "_run", run)
    assert hstujit.tune("dlrm_v3", budget_s=5, again=True, until=0.01, device="cuda:1", store=tmp_path) == "done"
    assert calls.pop()[2:] == (
        "--budget", "5", "--strategy", "model", "--seed", "1", "--until", "0.01", "--device", "cuda:1", "--again",
        "--store", str(tmp_path),
    )  # fmt: skip
    rows = hstujit.bench("dlrm_v3", figures=("a", "b"), device="cuda@sm_80")
    assert [row.correct for row in rows] == [True, None]
    bench, check = calls
    assert bench[0] == "bench"
    assert bench[2:8] == ("--only", "operators", "--figures", "a,b", "--device", "cuda@sm_80")
    assert check[0] == "run"
    assert check[2:6] == ("--budget", "0", "--device", "cuda@sm_80")
    calls.clear()
    hstujit.bench("dlrm_v3", check=False)
    assert len(calls) == 1


def test_a_stack_that_does_not_run_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*arguments: str, may_fail: bool = False) -> str:
        if arguments[0] == "bench":
            Path(arguments[arguments.index("--json") + 1]).write_text(json.dumps(REPORT))
        return "it failed"

    monkeypatch.setattr(_measure, "_run", run)
    with pytest.raises(hstujit.Error, match="hstu-tune run wrote no results\nit failed"):
        hstujit.bench("dlrm_v3")


def test_the_tool_takes_these_options(tmp_path: Path) -> None:
    """Without a GPU both end with the tool's own text, and not with one about its usage."""
    for call in (lambda: hstujit.tune("dlrm_v3", budget_s=1, until=0.01, again=True, by_time=True, device="cuda:63",
                                      store=tmp_path),
                 lambda: hstujit.bench("dlrm_v3", device="cuda:63", store=tmp_path),
                 lambda: hstujit.bench("dlrm_v3", figures=("x", "y"), device="cuda:63", store=tmp_path)):  # fmt: skip
        with pytest.raises(hstujit.Error, match="exit code") as caught:
            call()
        assert "Usage:" not in str(caught.value)
        assert "arguments were not expected" not in str(caught.value)
