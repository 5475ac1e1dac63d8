#!/bin/sh
# The certificates of three nodes and of an operator, made once on one machine. Keep pki/ca.key
# there; copy to each machine its own pair and ca.pem (see README.md).
#   certificates.sh [FOLDER]       FOLDER (pki) is made, and must have no certificates yet
set -eu
folder=${1:-pki}

mortise cert init --cluster orders --dir "$folder"
for node in 1 2 3; do
    mortise cert issue --dir "$folder" --node "$node" --host "orders-$node.example.org"
done
mortise cert issue --dir "$folder" --user operator --role admin
