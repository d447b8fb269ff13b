#!/bin/sh
# Puts this sawtooth and the Node that runs it into one archive, sawtooth.tar.gz, for containers that have neither. For
# containers of the same kind (glibc, processor) as this machine.
set -eu
here=$(pwd)
root=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$root" && npm pack --silent --pack-destination "$work" >/dev/null)
npm install --silent --no-audit --no-fund --global --prefix "$work/sawtooth" "$work"/sawtooth-*.tgz
cp "$(node -p process.execPath)" "$work/sawtooth/bin/node"
tar -czf "$here/sawtooth.tar.gz" -C "$work" sawtooth
echo "sawtooth.tar.gz: $(wc -c <"$here/sawtooth.tar.gz") bytes"
