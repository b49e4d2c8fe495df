#!/usr/bin/env bash
# Builds the simulator and runs it; its last line is "N passed, N failed".
#
#   run.sh SEED [OPTION ...]            one seed; if it fails, it is shrunk to what still fails
#   run.sh --check SECONDS [OPTION ...] new seeds for that time, from first=N on; the first one is also run twice
#   run.sh --hours N [OPTION ...]       the same for N virtual hours
#   run.sh --sweep N [OPTION ...]       short runs: in each, another call of libc fails, each N-th of all calls
#
#   JOBS=2              runs at a time; by default as many as there are processors
#   SANITIZE=undefined  or "address"
#   DLOCK_SIM_DIR=DIR   what is built goes there; by default into build/sim of the checkout
#
# README.md has the options.
set -euo pipefail
export LC_ALL=C

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${DLOCK_SIM_DIR:-$root/build/sim${SANITIZE:+-$SANITIZE}}
mkdir -p "$build"
build=$(cd "$build" && pwd)

flock "$build" make -s -j"${JOBS:-$(nproc)}" -C "$root" -f tests/sim/Makefile BUILD="$build" SANITIZE="${SANITIZE:-}" >&2
cd "$root"
exec "$build/sim" "$@"
