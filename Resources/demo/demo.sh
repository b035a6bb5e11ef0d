#!/bin/bash
# Shows Martlet at its main job: a generated batch goes up to `martlet receive` on loopback, the screen opens on it, and at the
# end every file is compared. Usage: demo.sh DIR-OF-PROGRAMS. Everything it makes is in .demo/, and an earlier run's is removed.
#   DEMO_LIMIT=RATE   speed of the batch (on a terminal 40M, so that there is something to watch; otherwise none)
set -u
cd "$(dirname "$0")/../.." || exit 1
programs=$(cd "${1:?usage: demo.sh DIR-OF-PROGRAMS}" && pwd) || exit 1
martlet=$programs/martlet
demo=$PWD/.demo
export MARTLET_HOME=$demo/home
export LC_ALL=${LC_ALL:-C.UTF-8}

say() { echo "demo: $*"; }
fail() {
  echo "demo: $*" >&2
  exit 1
}

# --- starting clean, and leaving nothing that runs ---------------------------------------------------------------------------

receiver=
end_all() {
  [ -x "$martlet" ] && [ -d "$MARTLET_HOME" ] && "$martlet" engine stop --now >/dev/null 2>&1
  [ -n "$receiver" ] && kill "$receiver" 2>/dev/null && wait "$receiver" 2>/dev/null
}
trap end_all EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

[ -x "$martlet" ] || fail "$martlet is not built; run: make demo"
end_all
rm -rf "$MARTLET_HOME" "$demo/received" "$demo/receiver.out" "$demo/receiver.err"
mkdir -p "$demo/received"
: >"$demo/receiver.out"

# --- the batch: 203 files, the same every time -------------------------------------------------------------------------------

# Every file is a row of numbers that starts elsewhere, so no two places of the batch look alike.
number=0
make_file() { # path below the batch, size
  local path=$demo/making/$1
  mkdir -p "${path%/*}"
  number=$((number + 1))
  seq "$((number * 100000000))" 1000000000000 | head -c "$2" >"$path"
}
make_batch() {
  rm -rf "$demo/making" "$demo/batch"
  say "making a batch of files in .demo/batch (once)"
  make_file 'video/the long film.mov' 200000000
  make_file 'video/trailer.mov' 90000000
  for i in 1 2 3 4 5 6; do make_file "video/clips/clip-$i.mov" $((i * 7000000)); done
  for i in $(seq -w 1 24); do make_file "photos/2024/IMG_04$i.CR3" $((4000000 + 10#$i * 61007)); done
  for i in $(seq -w 1 40); do make_file "photos/2025/IMG_11$i.JPG" $((900000 + 10#$i * 4099)); done
  for i in $(seq -w 1 60); do make_file "documents/reports/report-$i.pdf" $((20000 + 10#$i * 1013)); done
  for i in $(seq -w 1 60); do make_file "documents/notes/$i.txt" $((10#$i * 37)); done
  make_file 'documents/empty.txt' 0
  for i in 1 2 3 4 5; do make_file "documents/empty folders have no files/$i.log" 0; done
  make_file 'documents/an offer (final, really).txt' 12345
  make_file 'documents/日本語の資料.txt' 23456
  make_file "documents/$(printf 'caf\351 in Latin-1.txt')" 34567
  make_file 'documents/one byte' 1
  make_file 'a file at the top.bin' 5000000
  mv "$demo/making" "$demo/batch"
}
[ -d "$demo/batch" ] || make_batch
files=$(find "$demo/batch" -type f -printf . | wc -c)
bytes=$(find "$demo/batch" -type f -printf '%s\n' | awk '{ sum += $1 } END { printf "%d", sum }')

# --- the other end -----------------------------------------------------------------------------------------------------------

"$martlet" receive "$demo/received" >"$demo/receiver.out" 2>"$demo/receiver.err" &
receiver=$!
until url=$(sed -n 's/^ready //p' "$demo/receiver.out") && [ -n "$url" ]; do
  kill -0 "$receiver" 2>/dev/null || fail "martlet receive ended: $(tail -n 3 "$demo/receiver.err")"
  sleep 0.05
done
say "martlet receive answers at $url"

# --- the work ----------------------------------------------------------------------------------------------------------------

on_terminal=
[ -t 0 ] && [ -t 1 ] && [ "${TERM:-dumb}" != dumb ] && on_terminal=1
limit=${DEMO_LIMIT:-${on_terminal:+40M}}
batch=$("$martlet" upload --name demo ${limit:+--limit "$limit"} "$demo/batch" "${url%/}/") || fail "martlet upload refused the batch"
say "queued $batch: $files files, $bytes bytes"

if [ -n "$on_terminal" ]; then
  "$martlet" || fail "the screen ended with status $?"
  "$martlet" wait --timeout 0s "$batch" >/dev/null 2>&1
  # 75: something still moves. 4: what is left was paused, which is said below.
  [ $? = 75 ] && say "you left the screen, and the engine goes on; to come back meanwhile:" &&
    say "  MARTLET_HOME=.demo/home ${programs#"$PWD"/}/martlet"
fi

# On a terminal `wait` shows one line that moves; elsewhere `watch` prints one a second.
watch=
[ -t 2 ] || { "$martlet" watch "$batch" & watch=$!; }
"$martlet" wait "$batch"
status=$?
if [ $status = 4 ]; then
  say "the rest is paused; in another terminal:"
  say "  MARTLET_HOME=.demo/home ${programs#"$PWD"/}/martlet resume $batch"
  "$martlet" wait --patient "$batch"
  status=$?
fi
[ -n "$watch" ] && kill "$watch" 2>/dev/null && wait "$watch" 2>/dev/null
[ $status = 0 ] || say "not everything arrived (martlet wait: $status)"

# --- the proof ---------------------------------------------------------------------------------------------------------------

different=0 same=0
while IFS= read -r -d '' path; do
  if cmp -s "$demo/batch/$path" "$demo/received/batch/$path"; then
    same=$((same + 1))
  else
    different=$((different + 1))
    [ $different -gt 10 ] || printf 'demo: not the same: %q\n' "$path" >&2
  fi
done < <(cd "$demo/batch" && find . -type f -print0)
# The receiver's own records of uploads are none of the files.
arrived=$(find "$demo/received" -name .martlet-uploads -prune -o -type f -printf . | wc -c)
[ $different = 0 ] || fail "$different of $files files did not arrive whole"
[ "$arrived" = "$files" ] || fail "$arrived files are at the other end, but $files were sent"
[ $status = 0 ] || exit 1
say "$files files, $bytes bytes, identical"
