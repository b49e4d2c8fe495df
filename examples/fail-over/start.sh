#!/usr/bin/env bash
# A sale across a failover of Redis. Starts a Redis with two replicas and three Sentinels on free ports of 127.0.0.1,
# sells, kills the master in the middle, and plots the sales around that. Installs missing packages, builds the
# extension, and stops all processes that it has started. Fails if too much or too little was sold, or a lock was lost.
#
#   examples/fail-over/start.sh [--stock N] [--lease SECONDS]     defaults: 300 and 8; takes about 35 s
#
#   DLOCK_MODULE=/path/dlock.so   uses that build instead of making one
set -euo pipefail
export DLOCK_SANITIZE=0
cd "$(dirname "$0")/../.."
. scripts/php.inc.sh
results=$PWD/build/fail-over

usage() { echo "usage: examples/fail-over/start.sh [--stock N] [--lease SECONDS]; 50 to 2000 units, 6 to 60 s" >&2; exit 2; }

stock=300 lease=8
while [ $# -gt 0 ]; do
	[[ ${2-} =~ ^[1-9][0-9]{0,3}$ ]] || usage
	case $1 in
		--stock) stock=$2 ;;
		--lease) lease=$2 ;;
		*) usage ;;
	esac
	shift 2
done
[ "$stock" -ge 50 ] && [ "$stock" -le 2000 ] && [ "$lease" -ge 6 ] && [ "$lease" -le 60 ] || usage

begin_run fail-over-sale --demo
mkdir -p "$results"
run_php 'posix pcntl' examples/fail-over/sale.php "$stock" "$lease" "$results/sales.svg"
