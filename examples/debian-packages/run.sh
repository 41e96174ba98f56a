#!/usr/bin/env bash
# Publishes this machine's package list to a running registry (./puri up, or ./puri demo) and resolves some names. If it
# runs again after an installation, it adds the new packages and changes nothing else.
#
#   examples/debian-packages/run.sh [folder]
#
# The folder (default: target/debian-packages) keeps every published event with its ids. A service keeps them in its
# database; new ids would make another identity. PURI is the command (default: ./puri of this tree); its environment
# variables specify where the registry is.
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
# In both files the pURI is between the seventh and the eighth quotation mark of a line.
dpkg-query -W -f "$("$here/events" --format)" | "$here/events" |
  LC_ALL=C awk -F '"' '!fresh { known[$8]; next } !($8 in known)' "$kept" fresh=1 - > "$new"
status=0
"$puri" -o json publish -f "$new" --wait --echo > "$echoed" 2> "$said" || status=$?
cat "$said" >&2
# Refused events are not kept, because they would be refused again in each run. If a run fails, all events that may have
# arrived are kept.
LC_ALL=C awk -F '"' '
  stage == 1 { if (match($0, /^line [0-9]+: refused/)) lines[substr($0, 6, RLENGTH - 14)]; next }
  stage == 2 { if (FNR in lines) refused[$8]; next }
  /}$/ && !($8 in refused)' stage=1 "$said" stage=2 "$new" stage=3 "$echoed" >> "$kept"
# Status 3: some events were refused; the others are published.
((status == 0 || status == 3)) || exit "$status"

say "Where is all this? Any casing, escapes or not, and a handle, in one question"
handle=$(LC_ALL=C awk '/"debian:packages:/ && match($0, /"handle":"[^"]+"/) && !n++ { print substr($0, RSTART + 10, 19) }' "$kept")
packages=$(dpkg-query -W -f '${binary:Package}\n' | LC_ALL=C awk '/[+:]/ && n++ < 3 { gsub(":", "%3A"); print }')
refs=("$handle" Debian:Sections:LIBS debian:packages:no-such-package)
while IFS= read -r package; do
  refs+=("debian:packages:$package")
done <<< "$packages"
# Status 3: a reference was not found. That is expected, because one of these packages does not exist.
"$puri" resolve "${refs[@]}" --group-by shard || (($? == 3))
