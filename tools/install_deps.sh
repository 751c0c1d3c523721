#!/usr/bin/env bash
# Installs what the build needs on Debian 12 or Ubuntu 24.04, and the packages given. Does nothing when everything is
# there. The CUDA toolkit it leaves to the user; configuring says when there is none.
set -euo pipefail
packages=(g++ cmake ninja-build pkg-config libfmt-dev libspdlog-dev nlohmann-json3-dev libsqlite3-dev libcli11-dev
          libxxhash-dev libzstd-dev libgtest-dev abigail-tools file dpkg-dev python3 python3-venv "$@")
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  sudo=$([ "$(id -u)" = 0 ] || echo sudo)
  $sudo apt-get update -q
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
fi
