# Sourced after common.sh by servers that are Python packages and no Debian ones.

# venv PACKAGE==VERSION...: a Python environment with these, made once for all tests; its folder is in $VENV.
venv() {
  local key
  key=$(printf '%s\n' "$@" | cksum | cut -d' ' -f1)
  VENV=${SERVERS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/martlet-servers}/$NAME-$key
  [ -e "$VENV/.done" ] && return
  mkdir -p "${VENV%/*}"
  exec 8>"${VENV%/*}/.lock" && flock -w 600 8
  if [ ! -e "$VENV/.done" ]; then
    python3 -c 'import ensurepip, venv' 2>/dev/null || die "install the Debian package python3-venv, or run: make test-deps"
    rm -rf "$VENV"
    { python3 -m venv "$VENV" && "$VENV/bin/pip" install -q --disable-pip-version-check "$@"; } \
      >>"$DIR/install.log" 2>&1 </dev/null || die "pip could not install $*; see $DIR/install.log"
    : >"$VENV/.done"
  fi
  exec 8>&-
}
