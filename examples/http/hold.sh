#!/bin/sh
# Holds a lock while a command runs, with curl alone: hold.sh URL NAME COMMAND...
# The command has the fencing token in MORTISE_TOKEN. It is ended when the lock is lost.
set -eu
url=$1 name=$2
shift 2
lines=$(mktemp -d)
trap 'kill "$curl" ${work:-} 2>/dev/null || true; rm -r "$lines"' EXIT
mkfifo "$lines/fifo"
curl -sSfN -H "Mortise-Http: 1" "$url/v1/hold/$name?label=hold.sh" >"$lines/fifo" &
curl=$!
exec 3<"$lines/fifo"
read -r granted <&3 || { echo "not acquired" >&2; exit 75; }
MORTISE_TOKEN=$(printf %s "$granted" | sed 's/.*"token":"\([0-9]*\)".*/\1/')
export MORTISE_TOKEN
"$@" &
work=$!
# Lines come as long as it is held. What ends them, whatever it is, ends the work.
watch_it() {
    while read -r line <&3 && [ "${line#*alive}" != "$line" ]; do :; done
    kill "$work" 2>/dev/null
}
watch_it &
watch=$!
wait "$work"
kill "$watch" 2>/dev/null || true
