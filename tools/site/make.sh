#!/usr/bin/env bash
# tools/site/make.sh FOLDER: the site of all pages, with the reference of the public headers, anew.
# Debian's Python, because Debian's packages are for that one.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
folder=$1

rm -rf -- "${folder:?}"
mkdir -p -- "$folder"
{
    cat docs/Doxyfile
    printf '%s = "%s"\n' OUTPUT_DIRECTORY "$folder" GENERATE_TAGFILE "$folder/reference.tag"
} | doxygen -
/usr/bin/python3 -B tools/site/build.py "$folder" "$folder/reference.tag"
/usr/bin/python3 -B tools/site/dead_links.py "$folder"
