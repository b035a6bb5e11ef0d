"""Many small and few large transfers over HTTP, beside curl."""
import os
import shutil
import statistics
import subprocess
import time

from .installation import GIB, Skip, cpu_seconds, times, verdict

RUNS = 3
LARGE_RUNS = 5  # a second each, and memory bandwidth is everybody's


def ten_thousand_puts(shop):
    """10,000 x 4 KiB on 8 connections: `martlet upload --wait` beside `curl -Z --parallel-max 8`, the same nginx."""
    need_curl()
    url, data, _ = shop.nginx()
    source = shop.path("small")
    for folder in range(100):
        os.makedirs(f"{source}/{folder:02}")
        for number in range(100):
            with open(f"{source}/{folder:02}/{number:02}.bin", "wb") as file:
                file.write(os.urandom(4096))
    with open(shop.path("curl.config"), "w") as file:
        for folder in range(100):
            for number in range(100):
                name = f"{folder:02}/{number:02}.bin"
                file.write(f'upload-file = "{source}/{name}"\nurl = "{url}curl/{name}"\noutput = /dev/null\n')
    ours, replacing, peers, cpu = [], [], [], []
    for _ in range(RUNS):
        peers.append(clock(lambda: subprocess.run(
            ["curl", "--no-progress-meter", "--fail", "-Z", "--parallel-max", "8", "-K", shop.path("curl.config")], check=True)))
        expect_files(f"{data}/curl", 10_000)
        shop.new_home()
        engine = shop.engine()
        ours.append(clock(lambda: shop.martlet("upload", "--wait", source, url + "martlet/")))
        cpu.append(cpu_seconds(engine))
        expect_files(f"{data}/martlet/small", 10_000)
        # curl replaces what is there; so does this, and asks for no name before.
        shop.new_home()
        shop.engine()
        replacing.append(clock(lambda: shop.martlet("upload", "--wait", "--if-exists", "replace", source, url + "replaced/")))
        expect_files(f"{data}/replaced/small", 10_000)
    shutil.rmtree(source)
    best, median = min(ours) / min(peers), statistics.median(ours) / statistics.median(peers)
    yield ("10,000 x 4 KiB PUT, wall", times(ours), times(peers), f"{best:.2f} ({median:.2f})", "≤ 1.25 x curl -Z",
           verdict(median <= 1.25))
    yield ("  with --if-exists replace", times(replacing), "", f"{min(replacing) / min(peers):.2f}", "", "")
    yield ("  files a second, engine's CPU", f"{10_000 / min(ours):.0f}/s, {min(cpu):.2f} s", f"{10_000 / min(peers):.0f}/s", "", "", "")


def two_gib_up(shop):
    need_curl()
    shop.need_room(5 * GIB)
    url, data, _ = shop.nginx()
    source = large_file(shop.path("large.bin"))

    def peer():
        subprocess.run(["curl", "-sS", "--fail", "-o", "/dev/null", "-T", source, url + "curl.bin"], check=True)
        os.remove(f"{data}/curl.bin")

    def ours():
        shop.martlet("upload", "--wait", source, url + "martlet.bin")
        assert os.path.getsize(f"{data}/martlet.bin") == 2 * GIB
        os.remove(f"{data}/martlet.bin")

    yield from compare(shop, "2 GiB up", ours, peer)
    os.remove(source)


def two_gib_down(shop):
    need_curl()
    shop.need_room(5 * GIB)
    url, data, _ = shop.nginx()
    large_file(f"{data}/large.bin")
    target = shop.path("arrived.bin")

    def peer():
        subprocess.run(["curl", "-sS", "--fail", "-o", target, url + "large.bin"], check=True)
        os.remove(target)

    def ours():
        shop.martlet("download", "--wait", url + "large.bin", target)
        assert os.path.getsize(target) == 2 * GIB
        os.remove(target)

    yield from compare(shop, "2 GiB down", ours, peer)


def compare(shop, what, ours, peer):
    """Throughput and CPU of both, in turns."""
    our_times, peer_times, our_cpu, peer_cpu = [], [], [], []
    for _ in range(LARGE_RUNS):
        before = children_cpu()
        peer_times.append(clock(peer))
        peer_cpu.append(children_cpu() - before)
        shop.new_home()
        engine = shop.engine()
        engine_before, front_before = cpu_seconds(engine), children_cpu()
        our_times.append(clock(ours))
        our_cpu.append(cpu_seconds(engine) - engine_before + children_cpu() - front_before)
    speed = min(peer_times) / min(our_times)
    cpu = min(our_cpu) / min(peer_cpu)
    yield (f"{what}, throughput", rate(our_times), rate(peer_times), f"{speed:.2f}", "≥ 0.95 x curl", verdict(speed >= 0.95))
    yield (f"{what}, CPU", f"{min(our_cpu):.2f} s", f"{min(peer_cpu):.2f} s", f"{cpu:.2f}", "≤ 1.3 x curl", verdict(cpu <= 1.3))


def rate(values):
    return f"{2 * GIB / min(values) / 1e6:.0f} MB/s ({2 * GIB / statistics.median(values) / 1e6:.0f})"


def large_file(path, size=2 * GIB):
    block = os.urandom(1 << 24)
    with open(path, "wb") as file:
        for _ in range(size // len(block)):
            file.write(block)
    return path


def clock(work):
    begun = time.monotonic()
    work()
    return time.monotonic() - begun


def children_cpu():
    used = os.times()
    return used.children_user + used.children_system


def expect_files(folder, count):
    """Moves them aside: after a removal ext4 is slow to make files for many seconds, and the next run would be charged with it."""
    found = sum(len(files) for _, _, files in os.walk(folder))
    if found != count:
        raise RuntimeError(f"{found} files arrived in {folder}, not {count}")
    os.rename(folder, f"{folder}.{time.monotonic_ns()}")


def need_curl():
    if not shutil.which("curl"):
        raise Skip("curl is not installed")
