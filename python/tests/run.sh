#!/usr/bin/env bash
# One step of the Python package's tests, as ctest runs it.
#   python/tests/run.sh BUILD_FOLDER wheel|checks|operators|fresh
#   wheel      builds the wheel, with torch's headers of HSTUJIT_PYTHON_VENV or of a virtual environment that it makes
#   checks     ruff, and mypy in strict mode
#   operators  installs the wheel into a fresh virtual environment that sees torch, and runs pytest there
#   fresh      installs it into one without torch
# Exit code 77: there is no such environment and none can be made; the reason is printed.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(realpath "$1") step=$2
venv=${HSTUJIT_PYTHON_VENV:-$build/python/venv}
wheel=$(find "$build/python" -maxdepth 1 -name 'hstujit-*.whl' 2>/dev/null | head -n 1)

# One compiler at a time: other tests run beside it, and some of them measure.
[ "$step" != wheel ] || CMAKE_BUILD_PARALLEL_LEVEL=1 exec python/build_wheel.sh "$build"
[ -n "$wheel" ] || { echo "skipped: the wheel was not built"; exit 77; }

case $step in
checks)
  "$venv/bin/ruff" check --no-cache python
  "$venv/bin/ruff" format --no-cache --check python
  mypy=("$venv/bin/mypy" --config-file "$PWD/python/pyproject.toml" --cache-dir "$build/python/mypy")
  "${mypy[@]}" python/generate.py python/generate_switching.py python/make_wheel.py
  (cd "$build/python/staged" && "${mypy[@]}" -p hstujit)
  ;;
operators)
  with_torch=$build/python/with_torch
  "$venv/bin/python" -m venv --clear "$with_torch"
  "$with_torch/bin/pip" install --quiet --disable-pip-version-check --no-index --no-deps "$wheel"
  site='import sysconfig; print(sysconfig.get_path("purelib"))'
  "$venv/bin/python" -c "$site" >"$("$with_torch/bin/python" -c "$site")/torch.pth"
  HSTUJIT_WHEEL=$wheel HSTUJIT_TOOLS=$(realpath "$venv/bin") \
    "$with_torch/bin/python" -m pytest -p no:cacheprovider python/tests
  ;;
fresh)
  python3 python/tests/fresh_venv.py "$wheel" "$build/python/without_torch"
  ;;
esac
