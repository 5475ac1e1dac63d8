#!/bin/sh
# Holds a lock while a command runs, with curl alone: hold.sh URL NAME COMMAND...
# The command has the fencing token in MORTISE_TOKEN. It is ended with SIGTERM when the lock is
# lost, when what was last heard of it is about to be over, and when this script ends. The lock is
# released when the command has ended.
set -eu
url=$1 name=$2
shift 2
curl='' work='' reader='' watch=''
dir=$(mktemp -d)
end() {
    if [ -n "$work" ]; then
        kill "$work" 2>/dev/null || true
        wait "$work" || true
    fi
    kill $watch $reader $curl 2>/dev/null || true
    rm -r "$dir"
}
trap end EXIT
trap 'exit 143' TERM INT HUP
# Seconds on a clock that nobody sets, if there is one.
now() { cut -d. -f1 /proc/uptime 2>/dev/null || date +%s; }
number() { printf %s "$line" | sed "s/.*\"$1\":\"*\([0-9]*\).*/\1/"; }
# Lines count from the one request, less a thousandth: after an hour it is better to ask.
note() {
    sent=$opened
    if [ $(($(now) - opened)) -gt 3600 ]; then
        sent=$(now)
        line=$(curl -sSf -m 2 "$url/v1/sessions/$hold") || return 0
    fi
    echo $((sent + $(number valid_ms) / 1000)) >"$dir/new" && mv "$dir/new" "$dir/until"
}

mkfifo "$dir/lines"
opened=$(now)
curl -sSfN -H "Mortise-Http: 1" "$url/v1/hold/$name?label=hold.sh" >"$dir/lines" &
curl=$!
exec 3<"$dir/lines"
read -r line <&3 || { echo "not acquired" >&2; exit 75; }
hold=$(printf %s "$line" | sed 's/.*"session":"\([^"]*\)","hold":"\([^"]*\)".*/\1\/holds\/\2/')
note
MORTISE_TOKEN=$(number token)
export MORTISE_TOKEN
"$@" 3<&- &
work=$!
# Lines come as long as it is held. What ends them, whatever it is, ends the work.
{
    while read -r line && [ "${line#*alive}" != "$line" ]; do note; done
    kill "$work"
} <&3 >/dev/null 2>&1 &
reader=$!
exec 3<&-
# Also without a line, and if this shell was killed.
{
    while kill -0 $$ && [ $(($(now) + 1)) -lt "$(cat "$dir/until")" ]; do sleep 1; done
    kill "$work" "$curl"
} >/dev/null 2>&1 &
watch=$!
wait "$work"
