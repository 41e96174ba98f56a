#!/usr/bin/env bash
# Feeds this machine's package list to a running registry (./puri up, or ./puri demo) and resolves a mixed
# batch. Run it again after installing something: known packages change nothing, new ones are added.
#
#   examples/debian-packages/run.sh [folder]
#
# The folder (default: target/debian-packages) keeps every event as it was published, ids and all. A
# service keeps them in its database; new ids would be those of another identity.
# PURI names the command (default: ./puri of this tree), and its environment tells where the registry is.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
puri=${PURI:-$here/../../puri}
kept=${1:-$here/../../target/debian-packages}/published.jsonl

say() {
  printf '\n== %s\n' "$*" >&2
}

mkdir -p "$(dirname "$kept")"
touch "$kept"

say "Declaring three collections"
"$puri" collections apply -f "$here/collections.yaml"

if [[ -s $kept ]]; then
  say "Publishing again what was published before, which changes nothing"
  "$puri" -o json publish -f "$kept" --wait || (($? == 3))
fi

say "Publishing what is new"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
new=$work/new echoed=$work/echoed said=$work/said
# In both files the pURI is between the seventh and the eighth quote of a line.
dpkg-query -W -f "$("$here/events" --format)" | "$here/events" |
  LC_ALL=C awk -F '"' '!fresh { known[$8]; next } !($8 in known)' "$kept" fresh=1 - > "$new"
status=0
"$puri" -o json publish -f "$new" --wait --echo > "$echoed" 2> "$said" || status=$?
cat "$said" >&2
# Refused events are not kept, or they would be refused again each time. Of a run that broke off, all events
# that may have arrived are kept.
LC_ALL=C awk -F '"' '
  stage == 1 { if (match($0, /^line [0-9]+: refused/)) lines[substr($0, 6, RLENGTH - 14)]; next }
  stage == 2 { if (FNR in lines) refused[$8]; next }
  /}$/ && !($8 in refused)' stage=1 "$said" stage=2 "$new" stage=3 "$echoed" >> "$kept"
# Status 3: some events were refused, the others are published.
((status == 0 || status == 3)) || exit "$status"

say "Where is all this? Any casing, escapes or not, and a handle, in one question"
handle=$(LC_ALL=C awk '/"debian:packages:/ && match($0, /"handle":"[^"]+"/) && !n++ { print substr($0, RSTART + 10, 19) }' "$kept")
packages=$(dpkg-query -W -f '${binary:Package}\n' | LC_ALL=C awk '/[+:]/ && n++ < 3 { gsub(":", "%3A"); print }')
refs=("$handle" Debian:Sections:LIBS debian:packages:no-such-package)
while IFS= read -r package; do
  refs+=("debian:packages:$package")
done <<< "$packages"
# Status 3: a reference was not found, which is right, because one of these packages does not exist.
"$puri" resolve "${refs[@]}" --group-by shard || (($? == 3))
