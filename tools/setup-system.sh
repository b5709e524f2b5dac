#!/usr/bin/env bash
# The only thing in this repository that installs system packages: redis-server and chromium, for the suites that need
# them. Nothing else needs more than npm.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t missing < <(node tools/system.mjs)
if [ "${#missing[@]}" -eq 0 ]; then
  echo "setup:system: redis-server and Chromium are already installed."
  exit 0
fi

if ! command -v apt-get >/dev/null 2>&1; then
  echo "setup:system supports Debian-based systems only (apt-get was not found)." >&2
  echo "Install these yourself, or set CHROMIUM_PATH: ${missing[*]}" >&2
  exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
  echo "setup:system installs system packages (${missing[*]}) and must run as root: sudo npm run setup:system" >&2
  exit 1
fi

packages=()
for name in "${missing[@]}"; do
  case "$name" in
    redis) packages+=(redis-server) ;;
    chromium) packages+=(chromium) ;;
    *) echo "setup:system cannot install $name." >&2; exit 1 ;;
  esac
done

echo "setup:system: installing with apt-get: ${packages[*]}"
export DEBIAN_FRONTEND=noninteractive
# A service that starts by itself would hold the port of an operator's own Redis; tests start their own.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod +x "$policy"
  trap 'rm -f "$policy"' EXIT
fi
apt-get update -q
apt-get install -q -y --no-install-recommends "${packages[@]}"

mapfile -t missing < <(node tools/system.mjs)
if [ "${#missing[@]}" -ne 0 ]; then
  echo "setup:system: still not found after installing: ${missing[*]}" >&2
  exit 1
fi
