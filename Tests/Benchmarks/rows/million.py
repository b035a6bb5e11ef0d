"""A million files in one batch: how fast they are queued, what they cost in memory, and how soon a killed engine works again."""
import os
import shutil
import subprocess
import time

from .installation import GIB, memory_peak, until, verdict
from .screen import DOWN, Terminal, frames_of
from .slowserver import SlowServer

FOLDERS, FILES = 1000, 1000


def a_million_files(shop):
    shop.need_room(2 * GIB, inodes=FOLDERS * FILES + 10_000)
    source = shop.path("million")
    for folder in range(FOLDERS):
        os.makedirs(f"{source}/{folder:03}")
        for number in range(FILES):
            # one byte each: a transfer then is a payload
            with open(f"{source}/{folder:03}/{number:03}.bin", "wb", buffering=0) as file:
                file.write(b"x")
    server = SlowServer()
    shop.new_home()
    engine = shop.engine()
    begun = time.monotonic()
    batch = shop.martlet("upload", source, server.url + "up/").split()[0]
    returned = time.monotonic() - begun
    first = until(lambda: server.first) - begun
    until(lambda: not shop.json("show", batch)["scanning"], pause=0.1)
    queued = time.monotonic() - begun
    total = shop.json("show", batch)["filesTotal"]
    if total != FOLDERS * FILES:
        raise RuntimeError(f"{total} files were queued")
    yield ("queue 1,000,000 files", f"{queued:.1f} s", "", f"{total / queued / 1000:.0f}k/s", "≤ 12 s", verdict(queued <= 12))
    yield ("  the command returns", f"{returned * 1000:.0f} ms", "", "", "", "")
    yield ("  first transfer after the command", f"{first:.2f} s", "", "", "≤ 1 s", verdict(first <= 1))

    peak = memory_peak(engine)
    yield ("engine memory, 1,000,000 queued, peak", f"{peak:.0f} MiB", "", "", "≤ 96 MiB", verdict(peak <= 96))

    shop.kill_engine(engine)
    server.forget()
    begun = time.monotonic()
    daemon = subprocess.Popen([shop.programs + "/martletd"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    shop.engines.add(daemon.pid)
    flowing = until(lambda: server.first, pause=0.0005) - begun
    yield ("kill -9 with 1,000,000 queued → payload flows", f"{flowing:.2f} s", "", "", "≤ 1 s", verdict(flowing <= 1))

    terminal = Terminal([shop.programs + "/martlet"], columns=120, rows=36)
    frame = terminal.until_text(b"million") - terminal.begun
    yield ("first frame with 1,000,000 queued", f"{frame * 1000:.0f} ms", "", "", "≤ 100 ms", verdict(frame <= 0.1))
    # What moves by itself would be counted with the keys.
    shop.martlet("pause", "--all")
    terminal.settle()
    for key in (b"l", b"l"):  # the batch, then the folder of all folders
        terminal.key(key)
    cost, wait = frames_of(terminal, [DOWN, b"\x1b[6~"] * 50)
    yield ("a frame with 1,000,000 queued, processor time", f"{cost:.1f} ms", "", "", "≤ 16 ms", verdict(cost <= 16))
    yield ("  key to paint, longest of 100", f"{wait * 1000:.1f} ms", "", "", "≤ 30 ms", verdict(wait <= 0.03))
    terminal.close()

    peak = memory_peak(daemon.pid)
    yield ("engine memory after the restart, peak", f"{peak:.0f} MiB", "", "", "≤ 96 MiB", verdict(peak <= 96))
    shutil.rmtree(source)
    shop.engines.discard(daemon.pid)
    daemon.kill()
    daemon.wait()
