#!/bin/sh
# Any CI: run the check, repair when it fails, and leave patch and reports in a folder.
#
#   fix.sh "npm test" [folder]
#
# Needs sawtooth on the PATH and ANTHROPIC_API_KEY. The exit code is that of sawtooth fix: 0 when the check passes, at
# once or repaired; anything else means that it still fails, and why (see docs/headless.md).
set -u
check=$1
out=${2:-sawtooth-fix}
mkdir -p "$out"

code=0
sawtooth fix --check "$check" --max-attempts 3 --max-budget-usd "${MAX_BUDGET_USD:-2}" --max-time "${MAX_TIME:-30m}" \
  --patch "$out/repair.diff" --report "$out/report.md" --report "$out/report.xml" --report "$out/report.sarif" \
  --output-format json >"$out/result.json" || code=$?

if [ -f "$out/repair.diff" ]; then
  echo "repaired: git apply $out/repair.diff"
elif [ "$code" -eq 0 ]; then
  echo "nothing to repair"
else
  echo "not repaired (exit $code): see $out/report.md"
fi
exit "$code"
