#!/usr/bin/env bash
# Builds an installed release twice, and compares the two bit by bit.
#   tools/reproduce.sh [FOLDER]       FOLDER (build/reproduce) is emptied
# The two builds differ in folder, umask, locale, time zone and time. Only the first one may use
# ccache.
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
work=$(realpath -m -- "${1:-$root/build/reproduce}")
rm -rf -- "${work:?}"
mkdir -p -- "$work"

# Copied before the first build, because the tree may change meanwhile.
for folder in one another/longer/path; do
    mkdir -p -- "$work/$folder/mortise"
    python3 "$root/tools/tidy.py" --list '' | tar -C "$root" -cf - -T - |
        tar -C "$work/$folder/mortise" -xf -
done

build_in() { # build_in FOLDER UMASK: builds that copy, and installs it beside the build
    umask "$2"
    cd -- "$work/$1/mortise"
    cmake --preset release -DMORTISE_BUILD_TESTS=OFF -DMORTISE_BUILD_EXAMPLES=OFF >/dev/null
    cmake --build --preset release
    DESTDIR="$work/$1/installed" cmake --install build/release --prefix /usr >/dev/null
}

(LC_ALL=C TZ=UTC build_in one 022)
(LC_ALL=C.UTF-8 TZ=Pacific/Auckland CCACHE_DISABLE=1 build_in another/longer/path 077)

cd -- "$work"
diff -r one/installed another/longer/path/installed || {
    echo "reproduce: the two builds differ"
    exit 1
}
find one/installed -type f -printf '%s\n' |
    awk '{ bytes += $1 } END { print "reproduce: " NR " files, " bytes " bytes, no difference" }'
