"""The screen in a pseudo-terminal, beside htop and btop: how soon it shows something, how fast and with how many bytes it answers a key, what
it costs when nothing happens."""
import fcntl
import os
import pty
import select
import shutil
import signal
import statistics
import struct
import termios
import time

from .installation import cpu_seconds, dispatch_threads, run_seconds, until, verdict, wake_ups, woken_since


class Terminal:
    """A program in a terminal of its own."""

    def __init__(self, command, columns=80, rows=24):
        self.output = b""
        self.begun = time.monotonic()
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.environ.update(TERM="xterm-256color", LANG="C.UTF-8")
            os.execv(command[0], command)

    def read(self, seconds):
        """One piece of output, or nothing within that time."""
        if not select.select([self.descriptor], [], [], seconds)[0]:
            return b""
        try:
            data = os.read(self.descriptor, 65536)
        except OSError:
            data = b""
        self.output += data
        return data

    def until_text(self, text, seconds=30):
        """When the text had come."""
        end = time.monotonic() + seconds
        while text not in self.output:
            if time.monotonic() > end:
                raise RuntimeError(f"{text!r} is not on the screen: {self.output[-200:]!r}")
            self.read(0.05)
        return time.monotonic()

    def settle(self):
        while self.read(0.3):
            pass

    def key(self, key):
        """Seconds from a key to the first byte of its picture, and all bytes of it; None when it changes nothing."""
        before, begun = len(self.output), time.monotonic()
        os.write(self.descriptor, key)
        if not self.read(1):
            return None
        taken = time.monotonic() - begun
        while self.read(0.1):
            pass
        return taken, len(self.output) - before

    def close(self):
        try:
            os.write(self.descriptor, b"q")
            until(lambda: self._ended(), seconds=5)
        except (OSError, RuntimeError):
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.descriptor)

    def _ended(self):
        self.read(0)  # a program waits for its last output to be taken
        return os.waitpid(self.pid, os.WNOHANG)[0] == self.pid


def held_batch(shop):
    """An installation with one held batch of 200 files in 10 folders; its engine's pid."""
    source = shop.path("held")
    for folder in range(10):
        os.makedirs(f"{source}/{folder}", exist_ok=True)
        for number in range(20):
            with open(f"{source}/{folder}/{number}.bin", "wb") as file:
                file.write(b"x" * 1000)
    shop.new_home()
    engine = shop.engine()
    batch = shop.martlet("upload", "--hold", source, "http://127.0.0.1:9/up/").split()[0]
    until(lambda: shop.json("show", batch)["filesTotal"] == 200, pause=0.05)
    return engine


# Programs that people watch for hours, and a text that stands in the first picture of each.
PEERS = {"htop": b"PID", "btop": b"cpu"}
DOWN, UP = b"\x1b[B", b"\x1b[A"


def watch(command, text, rounds, open_with=b"", columns=80, rows=24):
    """Of a program that is started so often: the seconds to its first picture, the seconds from cursor keys to paint, and their bytes."""
    frames, keys, sizes = [], [], []
    for _ in range(rounds):
        terminal = Terminal(command, columns, rows)
        frames.append(terminal.until_text(text) - terminal.begun)
        settle_briefly(terminal)
        if open_with:
            terminal.key(open_with)
            settle_briefly(terminal)
        for key in (DOWN, DOWN, UP, DOWN, UP):
            if pressed := terminal.key(key):
                keys.append(pressed[0])
                sizes.append(pressed[1])
        terminal.close()
    return frames, keys, sizes


def settle_briefly(terminal, seconds=2):
    """Programs that repaint by the clock never settle."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and terminal.read(0.3):
        pass


def first_frame_and_keys(shop):
    held_batch(shop)
    ours = watch([shop.programs + "/martlet"], b"held", 5, open_with=b"l")
    # With the details and the picture of the speed below the list.
    large = watch([shop.programs + "/martlet"], b"held", 3, open_with=b"l", columns=120, rows=36)[2]
    peers = {name: watch([path], text, 3) for name, text in PEERS.items() if (path := shutil.which(name))}

    def beside(index, unit):
        return ", ".join(f"{name} {unit(figures[index])}" for name, figures in peers.items() if figures[index])

    def milliseconds(seconds):
        return f"{statistics.median(seconds) * 1000:.0f} ms" if statistics.median(seconds) >= 0.01 else \
            f"{statistics.median(seconds) * 1000:.1f} ms"

    def amount(sizes):
        return f"{statistics.median(sizes):.0f} bytes"

    frames, keys, sizes = ours
    yield ("first frame, 200 files", f"{milliseconds(frames)} (max {max(frames) * 1000:.0f})", beside(0, milliseconds), "", "≤ 100 ms",
           verdict(statistics.median(frames) <= 0.1))
    yield ("cursor key to paint", f"{milliseconds(keys)} (max {max(keys) * 1000:.1f})", beside(1, milliseconds), "", "≤ 30 ms",
           verdict(statistics.median(keys) <= 0.03))
    yield ("bytes to the terminal for a cursor key", f"{amount(sizes)} (max {max(sizes)})", beside(2, amount), "", "≤ 500",
           verdict(max(sizes) <= 500))
    yield ("  at 120x36", f"{amount(large)} (max {max(large)})", "", "", "≤ 500", verdict(max(large) <= 500))


def frames_of(terminal, keys):
    """Milliseconds of processor time that the screen takes for a key and its picture, on the average; and the longest wait for one."""
    before, waits = run_seconds(terminal.pid), []
    for key in keys:
        if pressed := terminal.key(key):
            waits.append(pressed[0])
    return (run_seconds(terminal.pid) - before) / max(1, len(waits)) * 1000, max(waits)


def rest(pids, seconds, terminal):
    """What programs do in so many seconds in which nobody touches them: (% CPU, wake-ups/s, libdispatch's own) of each, and the bytes."""
    before = {pid: (cpu_seconds(pid), wake_ups(pid)) for pid in pids}
    written, end = len(terminal.output), time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        terminal.read(left)  # a terminal that nobody reads would stop its program
    used = []
    for pid, (cpu, woken) in before.items():
        all_of_it, others = woken_since(pid, woken), dispatch_threads(pid)
        now = wake_ups(pid)
        theirs = sum(now.get(thread, 0) - woken.get(thread, 0) for thread in others)
        used.append((100 * (cpu_seconds(pid) - cpu) / seconds, all_of_it / seconds, theirs / seconds))
    return used, len(terminal.output) - written


def picker(shop):
    """Adding begins in a folder of 100,000 files: how soon its first names stand there, how soon all do, and that keys work meanwhile."""
    folder, count = shop.path("many"), 100_000
    os.makedirs(folder, exist_ok=True)
    for number in range(count):
        os.close(os.open(f"{folder}/file-{number:06}.dat", os.O_CREAT | os.O_WRONLY))
    held_batch(shop)
    firsts, wholes, keys = [], [], []
    home = os.getcwd()
    for _ in range(3):
        os.chdir(folder)
        terminal = Terminal([shop.programs + "/martlet"])
        os.chdir(home)
        terminal.until_text(b"held")
        terminal.settle()
        terminal.output, begun = b"", time.monotonic()
        os.write(terminal.descriptor, b"a")
        firsts.append(terminal.until_text(b"file-") - begun)
        if pressed := terminal.key(DOWN):
            keys.append(pressed[0])
        # The cursor stays on the last name while more come: nothing is drawn any more when all have.
        os.write(terminal.descriptor, b"G")
        last = begun
        while terminal.read(0.5):
            last = time.monotonic()
        wholes.append(last - begun)
        os.write(terminal.descriptor, b"q")
        terminal.settle()
        terminal.close()
    first, whole = statistics.median(firsts), statistics.median(wholes)
    yield ("picker, 100,000 files: first names", f"{first * 1000:.0f} ms (max {max(firsts) * 1000:.0f})", "", "", "≤ 100 ms", verdict(first <= 0.1))
    yield ("  cursor key while it is read", f"{statistics.median(keys) * 1000:.1f} ms (max {max(keys) * 1000:.1f})", "", "", "≤ 30 ms",
           verdict(statistics.median(keys) <= 0.03))
    yield ("  to the last of them", f"{whole * 1000:.0f} ms", "", "", "", "")


def idle(shop):
    seconds = 60
    engine = held_batch(shop)
    terminal = Terminal([shop.programs + "/martlet"])
    terminal.until_text(b"held")
    terminal.settle()
    ours, written = rest((engine, terminal.pid), seconds, terminal)
    terminal.close()
    peers = []
    for name, text in PEERS.items():
        if path := shutil.which(name):
            peer = Terminal([path])
            peer.until_text(text)
            settle_briefly(peer)
            (figures,), bytes_written = rest((peer.pid,), seconds, peer)
            peers.append((name, *figures, bytes_written))
            peer.close()
    beside = ", ".join(f"{name} {cpu:.1f} %, {woken:.1f}/s" for name, cpu, woken, _, _ in peers)
    for name, (cpu, woken, theirs) in zip(("engine", "screen"), ours):
        yield (f"idle {name}, {seconds} s", f"{cpu:.1f} % CPU, {woken:.1f} wake-ups/s ({theirs:.1f} libdispatch's)", beside if name == "screen" else "", "", "0; the clock once a minute" if name == "screen" else "0",
               verdict(cpu < 1 and (woken == 0 or name == "screen" and woken * seconds <= 1)))
    yield ("  written to the idle terminal", f"{written} bytes", ", ".join(f"{name} {count}" for name, *_, count in peers), "", "0; a minute of the clock",
           verdict(written < 100))
