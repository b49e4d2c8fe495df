#!/usr/bin/env bash
# The big sale (tests/permits/sale.phpt with larger numbers): 200 processes buy 1,000 units with 100,000 requests.
# Buyers are killed, many of them between reserve and confirm. One payment in ten fails. The server is killed and
# restarts with its data (`appendfsync always`). A watcher asks for the counts all the time. Takes half a minute on two
# cores. The last line tells what has happened.
#
#   scripts/sale.sh [PROCESSES [UNITS [REQUESTS]]]
set -euo pipefail
cd "$(dirname "$0")/.."
export DLOCK_SALE_PROCESSES=${1:-200} DLOCK_SALE_PIECES=${2:-1000} DLOCK_SALE_REQUESTS=${3:-100000}
export DLOCK_SALE_RESTARTS=5 DLOCK_SALE_RESTART=0.8 DLOCK_SALE_KILL=0.03
DLOCK_SALE_REPORT=$(mktemp)
export DLOCK_SALE_REPORT TEST_TIMEOUT=300
trap 'rm -f "$DLOCK_SALE_REPORT"' EXIT
status=0
scripts/test.sh tests/permits/sale.phpt || status=$?
cat "$DLOCK_SALE_REPORT"
exit "$status"
