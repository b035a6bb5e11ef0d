"""How soon the engine leaves when the system says so, as at a shutdown."""
import os
import shutil
import signal
import time

from .http import large_file
from .installation import GIB, state, until, verdict

RUNS = 3


def ended_by_sigterm(shop):
    shop.need_room(3 * GIB)
    url, _, _ = shop.nginx()
    source = shop.path("four")
    os.makedirs(source)
    for number in range(4):
        large_file(f"{source}/{number}.bin", GIB // 4)
    seconds = []
    for _ in range(RUNS):
        shop.new_home()
        engine = shop.engine()
        shop.martlet("limit", "32M")
        shop.martlet("upload", source, url + "up/")
        until(lambda: shop.json("engine", "status")["tasksActive"] == 4)
        begun = time.monotonic()
        os.kill(engine, signal.SIGTERM)
        until(lambda: state(engine) in "ZX", pause=0.0005)
        seconds.append(time.monotonic() - begun)
        shop.engines.discard(engine)
    shutil.rmtree(source)
    longest = max(seconds)
    yield ("SIGTERM with 4 uploads running → gone, longest of 3", f"{longest * 1000:.0f} ms", "", "", "≤ 2 s", verdict(longest <= 2))
