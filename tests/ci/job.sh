#!/bin/sh
# A CI job for a pull request that changes shaders: what it did to their code, and whether that is allowed.
#
#   job.sh BASE HEAD OUT
#
# BASE and HEAD are folders of SPIR-V, before and after; OUT gets what the CI system shows or keeps. The status is that
# of the worst step: 1 for a broken budget or a regression, 2 where nobody can tell.
set -u
base=$1 head=$2 out=$3
: "${SHADERSTAT:=shaderstat}" "${TARGET:=radv:navi21}"
worst=0
step() {
    "$@"
    status=$?
    [ "$status" -le "$worst" ] || worst=$status
}

mkdir -p "$out"
$SHADERSTAT stats "$base" -t "$TARGET" -q -o "jsonl:$out/before.jsonl" || exit 2
step $SHADERSTAT stats "$head" -t "$TARGET" -q -o "jsonl:$out/after.jsonl"

# Budgets that hold for ever.
step $SHADERSTAT check "$out/after.jsonl" --max spills=0 \
    -o "junit:$out/budgets.xml" -o "sarif:$out/budgets.sarif" -o github:-

# What this change may do at most.
step $SHADERSTAT diff "$out/before.jsonl" "$out/after.jsonl" --fail-on spills:+0 --fail-on registers:+10% \
    -o "markdown:$out/comment.md" -o "json:$out/diff.json" -o "junit:$out/diff.xml" -o github:-

# For those who want to know why.
$SHADERSTAT diff "$base" "$head" -t "$TARGET" --ir --normalise -q -o "$out/assembly.diff"
exit "$worst"
