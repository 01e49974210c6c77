#!/bin/sh
# Prints what CHANGELOG.md says of a version: deploy/release-notes.sh 0.2.0
set -eu
version=${1:?say which version}
notes=$(awk -v heading="## [$version]" '
  index($0, "## [") == 1 { inside = index($0, heading) == 1; next }
  inside' "$(dirname -- "$0")/../CHANGELOG.md")
if [ -z "$notes" ]; then
  echo "CHANGELOG.md has no notes for $version" >&2
  exit 1
fi
printf '%s\n' "$notes"
