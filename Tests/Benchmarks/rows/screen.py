"""The screen in a pseudo-terminal: how soon it shows something, how fast it answers a key, what it costs when nothing happens."""
import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import termios
import time

from .installation import cpu_seconds, until, verdict, wake_ups, woken_since


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
        """Seconds from a key to the first byte of its picture; None when it changes nothing."""
        begun = time.monotonic()
        os.write(self.descriptor, key)
        return time.monotonic() - begun if self.read(1) else None

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


def first_frame_and_keys(shop):
    held_batch(shop)
    frames, keys = [], []
    for _ in range(5):
        terminal = Terminal([shop.programs + "/martlet"])
        frames.append(terminal.until_text(b"held") - terminal.begun)
        terminal.settle()
        for key in (b"l", b"j", b"j", b"k", b"j", b"k"):
            if taken := terminal.key(key):
                keys.append(taken)
            terminal.settle()
        terminal.close()
    frame, key = statistics.median(frames), statistics.median(keys)
    yield ("first frame, 200 files", f"{frame * 1000:.0f} ms (max {max(frames) * 1000:.0f})", "", "", "≤ 100 ms", verdict(frame <= 0.1))
    yield ("key to paint", f"{key * 1000:.1f} ms (max {max(keys) * 1000:.1f})", "", "", "≤ 30 ms", verdict(key <= 0.03))


def idle(shop):
    engine = held_batch(shop)
    terminal = Terminal([shop.programs + "/martlet"])
    terminal.until_text(b"held")
    terminal.settle()
    seconds = 10
    before = {pid: (cpu_seconds(pid), wake_ups(pid)) for pid in (engine, terminal.pid)}
    written = len(terminal.output)
    time.sleep(seconds)
    terminal.read(0)
    for name, pid in (("engine", engine), ("screen", terminal.pid)):
        used, woken = cpu_seconds(pid) - before[pid][0], woken_since(pid, before[pid][1])
        yield (f"idle {name}, {seconds} s", f"{100 * used / seconds:.1f} % CPU, {woken / seconds:.1f} wake-ups/s", "", "", "0 %",
               verdict(used < 0.01 * seconds))
    yield ("  written to the idle terminal", f"{len(terminal.output) - written} bytes", "", "", "", "")
    terminal.close()
