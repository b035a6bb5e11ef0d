# Shared by the server scripts in the folder above; sourced, never run.
#
#   NAME start DIR PORT   write the configuration into DIR, serve DIR/data on 127.0.0.1:PORT,
#                         print "ready URL" when the server answers (PORT 0: a free one)
#   NAME stop DIR         end it, by DIR/pid
#   NAME crash DIR        end it with SIGKILL, as a power cut would; start again to go on
#   NAME status DIR       "running URL" or "stopped"
#
# SERVERS_TIMEOUT: seconds to wait until the server answers (30).

set -u
NAME=$(basename "$0")
HERE=$(cd "$(dirname "$0")" && pwd)
HOST=127.0.0.1
PATH=$PATH:/usr/sbin:/sbin
umask 022

die() {
  echo "$NAME: $*" >&2
  exit 1
}

# need COMMAND PACKAGE: `make test` installs what is needed, so here it is enough to say what is missing.
need() { command -v "$1" >/dev/null || die "$1 is missing: install the Debian package $2, or run: make test-deps"; }

# A throwaway CA and a certificate for localhost and 127.0.0.1, in DIR/tls. TLS=expired: it was good until yesterday; TLS=other: it is for
# another name.
tls() {
  T=$DIR/tls
  [ -e "$T/server.crt" ] && return
  need openssl openssl
  mkdir -p "$T"
  (
    set -e
    cd "$T"
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj "/CN=throwaway test CA" \
      -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign -keyout ca.key -out ca.crt
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost -keyout server.key -out server.csr
    names=DNS:localhost,IP:127.0.0.1,IP:127.0.0.2 days=3650
    case ${TLS:-} in other) names=DNS:elsewhere.invalid ;; expired) days=-1 ;; esac
    printf '%s\nbasicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth\n' "subjectAltName=$names" >ext
    openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days $days -extfile ext -out server.crt
    chmod 600 server.key ca.key
  ) >"$DIR/openssl.log" 2>&1 || die "openssl could not make a certificate; see $DIR/openssl.log"
}

# Below the ports that the kernel gives out by itself: a server that is down for a moment finds its own free again. A server
# that needs PORTS_IN_A_ROW has a row of its own, free on every address, for a proxy may stand in front of all of it.
free_port() {
  need python3 python3
  python3 -c '
import random, socket, sys
host, count = sys.argv[1], int(sys.argv[2])
while True:
    port = random.randrange(20000, 32000) if count == 1 else 10000 + count * random.randrange(10000 // count)
    taken = [socket.socket() for _ in range(count)]
    try:
        for n, one in enumerate(taken): one.bind((host if count == 1 else "", port + n))
        break
    except OSError: pass
print(port)' "$HOST" "${PORTS_IN_A_ROW:-1}"
}
# One that nobody else is about to take either: the lock lasts as long as the server, which has the file open.
claim_port() {
  local folder=${TMPDIR:-/tmp}/martlet-test-ports-$(id -u)
  mkdir -m 700 "$folder" 2>/dev/null || true
  # Another user's folder may be full of links to files of ours.
  if [ -L "$folder" ] || [ ! -O "$folder" ]; then echo "$folder is somebody else's: remove it, or set TMPDIR" >&2; exit 1; fi
  while true; do
    PORT=$(free_port)
    exec 9>"$folder/$PORT"
    if flock -n 9 && ! listening; then return; fi
  done
}
# Is somebody listening on HOST:PORT? Looked up rather than tried: a try would count as a connection.
listening() {
  local a b c d
  IFS=. read -r a b c d <<<"$HOST"
  grep -q "$(printf '%02X%02X%02X%02X:%04X 00000000:0000 0A' "$d" "$c" "$b" "$a" "$PORT")" /proc/net/tcp
}

# The pid file holds the pid and the start time of the process (field 22 of its stat line), so a
# pid that something else has taken since is never mistaken for ours.
born() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }
alive() {
  local pid when
  [ -e "$DIR/pid" ] && read -r pid when <"$DIR/pid" && [ -n "${pid:-}" ] && [ "$(born "$pid")" = "${when:-}" ] &&
    ! grep -q '^State:.*Z' "/proc/$pid/status" 2>/dev/null && PID=$pid
}

# launch COMMAND...: run it detached, in a session of its own, with its output in DIR/log
launch() {
  setsid "$@" >>"$DIR/log" 2>&1 </dev/null &
  echo "$! $(born $!)" >"$DIR/pid"
  disown # no word from bash when it is killed
}
# await URL: until the server listens; says "ready URL", or why it does not
await() {
  local url=$1 end=$((SECONDS + ${SERVERS_TIMEOUT:-30}))
  until listening; do
    alive || {
      tail -15 "$DIR/log" >&2
      rm -f "$DIR/pid"
      die "the server ended while starting; its log is $DIR/log"
    }
    [ $SECONDS -lt $end ] || {
      halt KILL
      die "no answer at $url within ${SERVERS_TIMEOUT:-30} s; its log is $DIR/log"
    }
    sleep 0.02
  done
  echo "$url" >"$DIR/url"
  echo "ready $url"
}
# Does a process of the server's group still run? A killed one may hold its port for a moment after the first has gone.
group_runs() { cat /proc/[0-9]*/stat 2>/dev/null | sed 's/.*) //' | awk -v group="$PID" '$3 == group && $1 != "Z" { runs = 1 } END { exit !runs }'; }
halt() { # KILL: the whole session at once; TERM: the server, then after 10 s whatever it left
  local sig=$1 end=$((SECONDS + 10))
  alive || {
    rm -f "$DIR/pid"
    return 0
  }
  [ "$sig" = KILL ] || kill -TERM "$PID" 2>/dev/null
  while [ "$sig" != KILL ] && alive && [ $SECONDS -lt $end ]; do sleep 0.02; done
  kill -KILL -- "-$PID" 2>/dev/null
  while group_runs && [ $SECONDS -lt $end ]; do sleep 0.02; done
  rm -f "$DIR/pid"
  return 0
}

usage() { # the comment at the head of the script
  sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2
  [ "${OWN_VERBS:-}" ] || echo "usage: $NAME start DIR PORT | stop DIR | crash DIR | status DIR" >&2
  exit 2
}

# main: reads the words of the command line and calls serve(), which the script defines
main() {
  [ $# -ge 2 ] || usage
  local verb=$1
  DIR=$2
  case $verb in
    start)
      PORT=${3:-}
      case $PORT in '' | *[!0-9]*) usage ;; esac
      mkdir -p "$DIR/data" || die "cannot make $DIR/data"
      DIR=$(cd "$DIR" && pwd) DATA=$DIR/data
      alive && die "$DIR already serves $(cat "$DIR/url" 2>/dev/null); stop it first, or use another folder"
      rm -f "$DIR/pid" "$DIR/url"
      [ "$PORT" = 0 ] && claim_port
      listening && die "port $PORT on $HOST is taken"
      serve
      ;;
    stop | crash)
      [ -d "$DIR" ] || exit 0
      DIR=$(cd "$DIR" && pwd)
      if [ "$verb" = stop ]; then halt TERM; else halt KILL; fi
      ;;
    status)
      if [ -d "$DIR" ] && DIR=$(cd "$DIR" && pwd) && alive; then echo "running $(cat "$DIR/url" 2>/dev/null)"; else echo stopped; fi
      ;;
    *) usage ;;
  esac
}
