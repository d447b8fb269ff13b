#!/bin/sh
# Runs every test in a folder of its own and reports in TAP.
cd "$(dirname "$0")/.." || exit 2
root=$PWD
number=0
failed=0
for test in test/*.test.sh; do
  number=$((number + 1))
  folder=$(mktemp -d)
  if (cd "$folder" && PATH="$root/bin:$PATH" sh -eu "$root/$test") >"$folder.log" 2>&1; then
    echo "ok $number - $(basename "$test" .test.sh)"
  else
    echo "not ok $number - $(basename "$test" .test.sh)"
    sed 's/^/# /' "$folder.log"
    failed=1
  fi
  rm -rf "$folder" "$folder.log"
done
echo "1..$number"
exit $failed
