# Sourced after common.sh by servers whose Debian package cannot be installed beside the others.

# unpack FILE PACKAGE...: these packages and the libraries that they miss, unpacked once; their root is in $ROOT, their
# libraries in $LD_LIBRARY_PATH.
unpack() {
  local file=$1 p
  shift
  ROOT=${SERVERS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/martlet-servers}/$NAME
  mkdir -p "$ROOT"
  exec 9>"$ROOT/.lock" && flock -w 600 9
  if ! [ -e "$ROOT/.done" ]; then
    mkdir -p "$ROOT/debs"
    (
      cd "$ROOT/debs" || exit 1
      apt-cache show "$@" >/dev/null 2>&1 || exit 1
      libs=$(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
        --no-enhances "$@" | grep '^lib' | sort -u | while read -r p; do
        dpkg-query -W -f '${db:Status-Abbrev}' "$p" 2>/dev/null | grep -q '^ii' || echo "$p"
      done)
      # shellcheck disable=SC2086 # the list is meant to be split
      apt-get -q download "$@" $libs || exit 1
      for p in *.deb; do dpkg -x "$p" "$ROOT" || exit 1; done
    ) >"$DIR/unpack.log" 2>&1 </dev/null || die "could not download $*; see $DIR/unpack.log, or run apt-get update"
    [ -e "$ROOT/$file" ] || die "unpacked $*, but $file is not in them"
    rm -rf "$ROOT/debs"
    : >"$ROOT/.done"
  fi
  exec 9>&-
  LD_LIBRARY_PATH=$(printf '%s:' "$ROOT"/usr/lib/*-linux-gnu* "$ROOT"/lib/*-linux-gnu*)
}
