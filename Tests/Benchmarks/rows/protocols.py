"""Protocols that resume uploads, beside the tools that people use for them."""
import base64
import os
import shutil
import statistics
import subprocess
from concurrent.futures import ThreadPoolExecutor

from .http import clock, expect_files, large_file, need_curl
from .installation import GIB, Skip, times, verdict

RUNS = 3


def sftp_large(shop):
    """1 GiB to OpenSSH's server: `martlet upload --wait` beside `sftp put`, over the same ssh."""
    shop.need_room(4 * GIB)
    url, data, config = sshd(shop)
    source = large_file(shop.path("large.bin"), GIB)
    ours, peers = [], []
    for _ in range(RUNS):
        peers.append(clock(lambda: sftp(config, f'put "{source}" "{data}/peer.bin"')))
        os.remove(f"{data}/peer.bin")
        shop.new_home()
        shop.engine()
        ours.append(clock(lambda: upload(shop, config, source, url + "ours.bin")))
        assert os.path.getsize(f"{data}/ours.bin") == GIB
        os.remove(f"{data}/ours.bin")
    os.remove(source)
    speed = min(peers) / min(ours)
    yield ("1 GiB up over SFTP, throughput", rate(ours, GIB), rate(peers, GIB), f"{speed:.2f}", "≥ 1 x sftp", verdict(speed >= 1))


def sftp_small(shop):
    """10,000 x 4 KiB: beside `sftp put -r`."""
    url, data, config = sshd(shop)
    source = small_files(shop, 10_000)
    ours, peers = [], []
    for _ in range(RUNS):
        os.mkdir(f"{data}/peer")
        peers.append(clock(lambda: sftp(config, f'put -r "{source}" "{data}/peer/"')))
        expect_files(f"{data}/peer", 10_000)
        shop.new_home()
        shop.engine()
        ours.append(clock(lambda: upload(shop, config, source, url + "ours/")))
        expect_files(f"{data}/ours/small", 10_000)
    shutil.rmtree(source)
    ratio = min(ours) / min(peers)
    yield ("10,000 x 4 KiB over SFTP, wall", times(ours), times(peers), f"{ratio:.2f}", "≤ 0.5 x sftp put -r", verdict(ratio <= 0.5))


def sftp_far(shop):
    """256 MiB with 50 ms of round-trip time: beside `lftp put`, which is the usual advice for such lines."""
    if not shutil.which("lftp"):
        raise Skip("lftp is not installed")
    url, data, config = sshd(shop)
    port = url.split(":")[2].split("/")[0]
    far = shop.server("faultproxy", f"TARGET=127.0.0.1:{port}")
    shop.rules("latency up 25ms", "latency down 25ms")
    far_port = far.rstrip("/").rsplit(":", 1)[1]
    far_config = config + ".far"
    with open(config) as near, open(far_config, "w") as file:
        for line in near:
            file.write(line.replace(f"Port {port}", f"Port {far_port}"))
    with open(os.path.join(os.path.dirname(config), "keys", "known_hosts"), "a+") as known:
        known.seek(0)
        known.write(known.readline().replace(f":{port} ", f":{far_port} "))
    size = 256 << 20
    source = large_file(shop.path("large.bin"), size)

    def lftp():
        script = (f'set sftp:connect-program "ssh -a -x -F {far_config}"; set cmd:fail-exit yes; '
                  f'open sftp://127.0.0.1:{far_port}; put -O "{data}" "{source}" -o peer.bin')
        subprocess.run(["lftp", "--norc", "-c", script], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    peers = [clock(lftp)]
    os.remove(f"{data}/peer.bin")
    ours = []
    for _ in range(2):
        shop.new_home()
        shop.engine()
        ours.append(clock(lambda: upload(shop, far_config, source, url.replace(f":{port}/", f":{far_port}/") + "ours.bin")))
        os.remove(f"{data}/ours.bin")
    os.remove(source)
    speed = min(peers) / min(ours)
    yield ("256 MiB over SFTP, 50 ms round trip", rate(ours, size), rate(peers, size), f"{speed:.2f}", "≥ 2 x lftp", verdict(speed >= 2))


def s3_large(shop):
    """2 GiB in parts to a host that Martlet knows from the run before, so that the parts fit the line. Beside it one plain PUT by curl to
    the same server; the same PUT with the MD5 that makes the server refuse damaged bytes, as Martlet always sends it; and curl doing all
    that Martlet does: parts, four at once, each with its Content-MD5. The server is Python on the same processors, and a part costs it
    some 50 ms of its own; the MD5 of 2 GiB, which a plain PUT does without, costs the client 4 s of a processor."""
    need_curl()
    shop.need_room(16 * GIB)
    url = shop.server("s3")
    source = large_file(shop.path("large.bin"))
    part_files = in_parts(shop, source, 128 << 20)
    os.environ.update(AWS_ACCESS_KEY_ID="testkey", AWS_SECRET_ACCESS_KEY="testsecret", AWS_ENDPOINT_URL=url)

    def put(file, name, *more):
        curl("-T", file, "--aws-sigv4", "aws:amz:us-east-1:s3", "-u", "testkey:testsecret", "-H",
             "x-amz-content-sha256: UNSIGNED-PAYLOAD", *more, f"{url}/test/{name}")

    def put_checked(file):
        digest = subprocess.run(["openssl", "md5", "-binary", file], check=True, stdout=subprocess.PIPE).stdout
        put(file, os.path.basename(file), "-H", f"Content-MD5: {base64.b64encode(digest).decode()}")

    def put_parts():
        with ThreadPoolExecutor(4) as four:
            list(four.map(put_checked, part_files))

    try:
        # The same file at the same place would not be sent again.
        names = (f"ours{run}.bin" for run in range(RUNS + 1))
        ours = lambda: shop.martlet("upload", "--wait", source, f"s3://test/{next(names)}")
        shop.new_home()
        shop.engine()
        ours()
        yield from against_put(
            shop, "2 GiB to S3", ours, lambda: put(source, "peer.bin"),
            {"a PUT with its MD5 by curl": lambda: put_checked(source), "the same in parts by curl": put_parts}, knows_host=True)
    finally:
        for name in [name for name in os.environ if name.startswith("AWS_")]:
            del os.environ[name]
        for file in [source, *part_files]:
            os.remove(file)


def tus_large(shop):
    """2 GiB by tus to `martlet receive`, beside a plain PUT by curl to it."""
    need_curl()
    shop.need_room(7 * GIB)
    url, data = shop.receiver()
    source = large_file(shop.path("large.bin"))

    def ours():
        shop.martlet("upload", "--wait", "--if-exists", "replace", source, "tus+" + url + "ours/")
        shutil.rmtree(f"{data}/ours")

    def peer():
        curl("-T", source, url + "peer.bin")
        os.remove(f"{data}/peer.bin")

    yield from against_put(shop, "2 GiB by tus", ours, peer)
    os.remove(source)


def against_put(shop, what, ours, peer, others=None, knows_host=False):
    """One row beside the peer, and one for each of the others that do more of what Martlet does."""
    our_times, peer_times, other_times = [], [], {name: [] for name in others or {}}
    for _ in range(RUNS):
        peer_times.append(clock(peer))
        for name, other in (others or {}).items():
            other_times[name].append(clock(other))
        if not knows_host:
            shop.new_home()
            shop.engine()
        our_times.append(clock(ours))
    for name, times in [("curl PUT", peer_times), *other_times.items()]:
        speed = min(times) / min(our_times)
        yield (f"{what}, beside {name}", rate(our_times, 2 * GIB), rate(times, 2 * GIB), f"{speed:.2f}", "≥ 0.9", verdict(speed >= 0.9))


def in_parts(shop, source, size):
    """The file cut in pieces, each a file of its own: curl knows no other."""
    paths = []
    with open(source, "rb") as whole:
        while piece := whole.read(size):
            paths.append(shop.path(f"part{len(paths)}.bin"))
            with open(paths[-1], "wb") as file:
                file.write(piece)
    return paths


def sshd(shop):
    """(URL of its folder, that folder, a file for ssh -F)"""
    if not shutil.which("sftp"):
        raise Skip("sftp is not installed")
    url = shop.server("sshd-sftp")
    folder = shop.servers[-1][1]
    return url, os.path.join(folder, "data"), os.path.join(folder, "ssh_config")


def sftp(config, command):
    subprocess.run(["sftp", "-q", "-F", config, "-b", "-", "127.0.0.1"], input=command + "\n", text=True, check=True,
                   stdout=subprocess.DEVNULL)


def upload(shop, config, source, destination):
    shop.martlet("upload", "--wait", "--ssh-command", f"ssh -F {config}", source, destination)


def curl(*words):
    subprocess.run(["curl", "-sS", "--fail", "-o", "/dev/null", *words], check=True)


def small_files(shop, count):
    source = shop.path("small")
    for folder in range(count // 100):
        os.makedirs(f"{source}/{folder:02}")
        for number in range(100):
            with open(f"{source}/{folder:02}/{number:02}.bin", "wb") as file:
                file.write(os.urandom(4096))
    return source


def rate(values, size):
    return f"{size / min(values) / 1e6:.0f} MB/s ({size / statistics.median(values) / 1e6:.0f})"
