"""A TCP proxy that breaks things: faultproxy.py DIR LISTEN PORT TARGET_HOST TARGET_PORT [LOW-HIGH]

Rules are the lines of DIR/rules, read anew when the file changes (which also sets the counts
of connections back to zero). `../faultproxy help` says what they are. What happened goes to
DIR/connections, one JSON object a line, when a connection ends.
"""
import errno
import fcntl
import json
import os
import random
import socket
import struct
import sys
import termios
import threading
import time

dir_, listen, port, thost, tport = sys.argv[1:6]
port, tport = int(port), int(tport)
more = range(0)
if len(sys.argv) > 6:
    low, _, high = sys.argv[6].partition("-")
    more = range(int(low), int(high) + 1)

RULES, LOG = dir_ + "/rules", dir_ + "/connections"
lock = threading.Lock()
data_open, data_sent = set(), set()
rules, stamp, started, still_open = [], None, 0, 0
CHUNK = 1 << 16
TCP_CLOSE = 7


def number(text):
    """1500, 10k, 1M, 2G bytes; 250ms, 3s seconds: (value, is_time)"""
    for end, by in (("ms", 0.001), ("s", 1)):
        if text.endswith(end):
            return float(text[: -len(end)]) * by, True
    for end, by in (("k", 1000), ("M", 10**6), ("G", 10**9)):
        if text.endswith(end):
            return int(float(text[:-1]) * by), False
    return int(text), False


def parse(line):
    words = line.split()
    rule = {"what": words[0], "n": 0, "text": line}
    plain = [w for w in words[1:] if "=" not in w]
    for w in words[1:]:
        if "=" in w:
            key, _, value = w.partition("=")
            rule[key] = value if key == "on" else number(value)[0] if key != "prob" else float(value)
            if key not in ("on", "conn", "first", "every", "prob", "for", "window", "retry-after"):
                raise ValueError(f"what is {key}= in: {line}")
    what = rule["what"]
    if what in ("cut", "rst", "stall", "hold", "corrupt", "rate", "lose", "latency"):
        rule["way"] = plain.pop(0) if plain and plain[0] in ("up", "down", "both") else "both"
        rule["at"], rule["timed"] = number(plain.pop(0)) if plain else (0, False)
        if what == "rate" and not rule["at"]:
            raise ValueError("rate needs bytes a second: " + line)
    elif what == "unanswered":
        rule.update(way="down", at=0, timed=False)
    elif what in ("delay", "answer"):
        rule["at"], _ = number(plain.pop(0))
    elif what not in ("refuse", "hang"):
        raise ValueError("no such rule: " + line)
    if plain:
        raise ValueError("too many words: " + line)
    return rule


def load(counts=True):
    """The rules that hold for a new connection, its number since they changed, and when that was."""
    global rules, stamp, started
    with lock:
        try:
            st = os.stat(RULES)
            now = (st.st_mtime_ns, st.st_ino, st.st_size)
        except FileNotFoundError:
            now = None
        if now != stamp:
            stamp, started = now, 0
            rules = []
            if now:
                for line in open(RULES):
                    line = line.split("#")[0].strip()
                    if line:
                        try:
                            rules.append(parse(line))
                        except (ValueError, IndexError) as err:
                            print("rules:", err, flush=True)
        started += counts
        return rules, started, stamp


def choose(kind):
    all_, nth, since = load()
    chosen = []
    for r in all_:
        if r.get("on", "main") not in (kind, "any"):
            continue
        with lock:
            r["n"] += 1
            n = r["n"]
        if "conn" in r and n != r["conn"] or "first" in r and n > r["first"]:
            continue
        if "every" in r and n % r["every"] or "prob" in r and random.random() >= r["prob"]:
            continue
        chosen.append(dict(r))
    return chosen, nth, since


def reset(sock):
    """Close with RST. A thread that waits in recv() holds the socket; SHUT_RD wakes it, and sends nothing."""
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.shutdown(socket.SHUT_RD)
    except OSError:
        pass
    sock.close()


def close(sock):
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    sock.close()


def drain(sock):
    """Wait until the other side's system has all that was sent: a reset throws away what is still here."""
    try:
        # A connection that has broken, too, keeps what it had.
        while sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] != TCP_CLOSE:
            if not struct.unpack("i", fcntl.ioctl(sock, termios.TIOCOUTQ, b"\0" * 4))[0]:
                return
            time.sleep(0.01)
    except (OSError, ValueError):
        pass


def ends(sock):
    """A connection's two ends, as /proc/net/tcp writes them: the other side's first."""
    def place(address):
        return "%08X:%04X" % (struct.unpack("=I", socket.inet_aton(address[0]))[0], address[1])
    return place(sock.getpeername()), place(sock.getsockname())


def unread():
    """The ends of connections, on this machine, whose receiving program has something left to read; our end may be closed
    by now. One that has not taken the connection yet waits for its control connection."""
    found = set()
    with open("/proc/net/tcp") as table:
        for row in (line.split() for line in list(table)[1:]):
            there, here, (unsent, unread_) = row[1], row[2], (int(n, 16) for n in row[4].split(":"))
            # The end counts as one byte, also when it has been sent and read; what is not taken belongs to no file (0).
            if unread_ > 1 and row[9] != "0":
                found.add((there, here))
            if unsent > 1:
                found.add((here, there))
    return found


class Line:
    """Sends to a socket, each piece DELAY seconds after it came; WINDOW bytes are on the way at most."""

    def __init__(self, sock, delay, window):
        self.sock, self.delay, self.window = sock, delay, window
        self.pieces, self.size, self.open, self.error = [], 0, True, None
        self.change = threading.Condition()
        if delay:
            threading.Thread(target=self.run, daemon=True).start()

    def send(self, data):
        if not self.delay:
            return self.sock.sendall(data)
        with self.change:
            while self.size + len(data) > self.window and self.pieces and not self.error:
                self.change.wait()
            if self.error:
                raise self.error
            self.pieces.append((time.monotonic() + self.delay, data))
            self.size += len(data)
            self.change.notify_all()

    def run(self):
        while True:
            with self.change:
                while not self.pieces:
                    if not self.open:
                        return
                    self.change.wait()
                due, data = self.pieces[0]
            time.sleep(max(0, due - time.monotonic()))
            try:
                self.sock.sendall(data)
            except OSError as err:
                self.error = err
            with self.change:
                self.pieces.pop(0)
                self.size -= len(data)
                self.change.notify_all()
                if self.error:
                    return

    def flush(self):
        """Wait until all is sent."""
        with self.change:
            self.open = False
            self.change.notify_all()
            while self.pieces and not self.error:
                self.change.wait()


class Connection:
    def __init__(self, client, peer, kind, port_):
        self.client, self.kind, self.port = client, kind, port_
        self.server = None
        self.rules, self.nth, self.stamp = choose(kind)
        self.info = {"n": self.nth, "port": port_, "at": round(time.time(), 3), "up": 0, "down": 0, "fault": None}
        self.over = threading.Event()
        self.begun = time.monotonic()
        self.is_stalled = self.has_sent = False
        self.ends = None

    def of(self, what, way=None):
        return [r for r in self.rules if r["what"] == what and (way is None or r["way"] in (way, "both"))]

    def fault(self, rule):
        if not self.info["fault"]:
            self.info["fault"] = rule["text"]

    def run(self):
        if self.kind == "data":
            with lock:
                data_open.add(self)
        try:
            self.go()
        except OSError as err:
            self.info["error"] = str(err)
        finally:
            with lock:
                data_open.discard(self)
                data_sent.update([self] if self.info["up"] else [])
            for s in (self.client, self.server):
                if s:
                    close(s)
            self.info["seconds"] = round(time.monotonic() - self.begun, 3)
            with lock, open(LOG, "a") as f:
                f.write(json.dumps(self.info) + "\n")
            count(-1)

    def go(self):
        for r in self.of("refuse"):
            self.fault(r)
            return reset(self.client)
        for r in self.of("hang"):
            self.fault(r)
            self.client.settimeout(r.get("for"))
            try:
                while self.client.recv(CHUNK):  # reads and says nothing
                    pass
            except TimeoutError:
                pass
            return
        for r in self.of("answer"):
            self.fault(r)
            return self.answer(r)
        for r in self.of("delay"):
            self.fault(r)
            time.sleep(r["at"])
        try:
            self.server = socket.create_connection((thost, tport if self.kind == "main" else self.port), 20)
        except OSError as err:
            self.info["error"] = "target: " + str(err)
            return reset(self.client)
        self.ends = ends(self.server)
        for s in (self.client, self.server):
            s.settimeout(None)
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for r in self.rules:  # cut, rst by the clock
            if r["what"] in ("cut", "rst") and r["timed"]:
                t = threading.Timer(r["at"], self.end, (r,))
                t.daemon = True
                t.start()
        ways = [threading.Thread(target=self.pump, args=a, daemon=True) for a in
                ((self.client, self.server, "up"), (self.server, self.client, "down"))]
        for t in ways:
            t.start()
        for t in ways:
            t.join()

    def end(self, rule):
        """End both sides the way the rule says."""
        if self.over.is_set():
            return
        self.over.set()
        self.fault(rule)
        how = reset if rule["what"] == "rst" else close
        how(self.client)
        if rule["what"] == "cut" and rule.get("way") == "down":
            close(self.server)
        else:
            how(self.server)

    def answer(self, rule):
        self.client.settimeout(20)
        head = b""
        while b"\r\n\r\n" not in head:
            data = self.client.recv(CHUNK)
            if not data:
                return
            head += data
        self.info["up"] = len(head)
        extra = f"Retry-After: {rule['retry-after']:g}\r\n" if "retry-after" in rule else ""
        body = f"{rule['at']} by faultproxy\n"
        self.client.sendall((f"HTTP/1.1 {rule['at']} Fault\r\n{extra}Content-Type: text/plain\r\n"
                             f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}").encode())
        self.client.shutdown(socket.SHUT_WR)
        self.client.settimeout(2)  # let the client read the answer before the reset
        try:
            while data := self.client.recv(CHUNK):
                self.info["up"] += len(data)
        except TimeoutError:
            pass

    def pump(self, src, dst, way):
        mine = [r for r in self.rules if r.get("way") in (way, "both") and not
                (r["what"] in ("cut", "rst") and r["timed"])]
        at_bytes = sorted((r for r in mine if r["what"] in ("cut", "rst", "stall", "hold", "lose", "unanswered") and not r["timed"]), key=lambda r: r["at"])
        flips = [r for r in mine if r["what"] == "corrupt"]
        timed = [r for r in mine if r["what"] == "stall" and r["timed"]]
        rate = min((r["at"] for r in mine if r["what"] == "rate"), default=0)
        size = CHUNK if not rate else max(1, min(CHUNK, rate // 20))
        slow = [r for r in mine if r["what"] == "latency"]
        line = Line(dst, sum(r["at"] for r in slow), min((r.get("window", 4 << 20) for r in slow), default=0))
        done, t0 = 0, time.monotonic()
        try:
            while not self.over.is_set():
                data = src.recv(size)
                if not data:
                    break
                for r in flips:
                    i = r["at"] - done
                    if 0 <= i < len(data):
                        self.fault(r)
                        data = data[:i] + bytes([data[i] ^ 1]) + data[i + 1:]
                for r in [r for r in timed if time.monotonic() - self.begun >= r["at"]]:
                    timed.remove(r)
                    self.stall(r)
                while at_bytes and done + len(data) > at_bytes[0]["at"]:
                    if at_bytes[0]["what"] == "unanswered" and data.startswith(b"HTTP/1.1 1"):
                        at_bytes[0]["at"] = done + data.find(b"\r\n\r\n") + 4  # "100 Continue" is no answer yet
                        continue
                    r = at_bytes.pop(0)
                    part = data[: r["at"] - done]
                    if part:
                        line.send(part)
                        done += len(part)
                        self.info[way] = done
                        data = data[len(part):]
                    if r["what"] == "lose":  # the rest of this way goes nowhere; the other goes on
                        self.fault(r)
                        while src.recv(CHUNK):
                            pass
                        line.flush()
                        return self.half(src, dst)
                    if r["what"] in ("stall", "hold"):
                        self.stall(r)
                    else:
                        line.flush()  # what went before gets through first
                        time.sleep(0.05)
                        return self.end(r)
                if data and not self.over.is_set():
                    line.send(data)
                    done += len(data)
                    self.info[way] = done
                if rate:
                    ahead = done / rate - (time.monotonic() - t0)
                    if ahead > 0:
                        self.over.wait(ahead)
            line.flush()
            if way == "up":
                self.await_data()
            if not self.over.is_set():
                self.half(src, dst)
        except OSError:
            if not self.over.is_set():
                self.over.set()
                reset(src)  # one side broke: so does the other, once what came before has got through
                if way == "up":
                    self.await_data()
                drain(dst)
                reset(dst)
        finally:
            self.has_sent |= way == "up"

    def await_data(self):
        """An FTP server may end with its control connection: what the data connections have let through, to where one is
        held, too, is read by it first."""
        if self.kind != "main":
            return
        with lock:
            before = coming = data_open | data_sent
        while coming and not self.over.is_set():
            with lock:
                moving = {c for c in coming & data_open if c.info["up"] and not (c.is_stalled or c.has_sent)}
            left = unread()
            coming = {c for c in coming if c in moving or c.info["up"] and c.ends in left}
            time.sleep(0.01)
        with lock:
            data_sent.difference_update(before - coming)

    def half(self, src, dst):
        try:
            dst.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def stall(self, rule):
        self.fault(rule)
        self.is_stalled = True
        if rule["what"] == "stall":
            self.over.wait(rule.get("for"))
            self.is_stalled = False
            return
        # A client that is gone cannot be felt: what it left is not read.
        while not self.over.wait(0.02):
            load(counts=False)
            if stamp != self.stamp:
                return self.end(rule)


def count(by):
    """DIR/open: how many connections there are now."""
    global still_open
    with lock:
        still_open += by
        with open(dir_ + "/open.new", "w") as f:
            f.write(f"{still_open}\n")
        os.rename(dir_ + "/open.new", dir_ + "/open")


def serve(port_, kind):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # The ports of a passive server are given; a connection that somebody's machine made may sit on one for a moment.
    for left in range(100, -1, -1):
        try:
            s.bind((listen, port_))
            break
        except OSError as problem:
            if problem.errno != errno.EADDRINUSE or left == 0:
                raise
            time.sleep(0.1)
    s.listen(512)

    def loop():
        while True:
            client, peer = s.accept()
            count(1)
            c = Connection(client, peer, kind, port_)
            threading.Thread(target=c.run, daemon=True).start()

    threading.Thread(target=loop, daemon=True).start()


for p in more:
    serve(p, "data")
# The last, because it is what is waited for.
serve(port, "main")
threading.Event().wait()
