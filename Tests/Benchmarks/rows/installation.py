"""A Martlet installation, servers and clocks for one benchmark row; everything ends with the row."""
import json
import os
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SERVERS = os.path.join(HERE, "..", "..", "Servers")
TICK = os.sysconf("SC_CLK_TCK")
GIB = 1 << 30


class Skip(Exception):
    """This machine cannot show the row, and why."""


class Workshop:
    """Where the rows work: a folder in memory (tmpfs) if there is one, so that the disk is not what is measured."""

    def __init__(self, programs):
        self.programs = os.path.abspath(programs)
        for name in ("martlet", "martletd", "martlet-receive"):
            if not os.path.exists(os.path.join(self.programs, name)):
                raise SystemExit(f"bench: {self.programs}/{name} is not built")
        base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else tempfile.gettempdir()
        self.root = tempfile.mkdtemp(prefix="martlet-bench.", dir=base)
        self.homes = 0
        self.servers = []
        self.children = []
        self.engines = set()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end_all()
        shutil.rmtree(self.root, ignore_errors=True)

    def need_room(self, size, inodes=0):
        room = os.statvfs(self.root)
        if room.f_bavail * room.f_frsize < size:
            raise Skip(f"needs {size // GIB + 1} GiB free in {os.path.dirname(self.root)}")
        if room.f_files and room.f_favail < inodes:
            raise Skip(f"needs {inodes} free inodes in {os.path.dirname(self.root)}")

    def path(self, name):
        return os.path.join(self.root, name)

    # -- Martlet

    def new_home(self):
        """A new, empty installation; earlier engines end. On disk rather than in memory: commits have to cost what they cost."""
        self.end_engines()
        self.homes += 1
        disk = os.path.abspath(".bench")
        os.makedirs(disk, exist_ok=True)
        home = os.path.join(disk, f"home-{os.getpid()}-{self.homes}")
        shutil.rmtree(home, ignore_errors=True)
        os.makedirs(home)
        os.environ["MARTLET_HOME"] = home
        return home

    def martlet(self, *words, check=True):
        result = subprocess.run([self.programs + "/martlet", *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if check and result.returncode:
            raise RuntimeError(f"martlet {' '.join(words[:2])}: {result.returncode} {result.stderr.strip()}")
        return result.stdout

    def json(self, *words):
        return json.loads(self.martlet(*words, "--json"))

    def engine(self):
        """The pid of the running engine, started if need be."""
        self.martlet("engine", "start")
        pid = self.json("engine", "status")["pid"]
        self.engines.add(pid)
        return pid

    def kill_engine(self, pid):
        os.kill(pid, signal.SIGKILL)
        while os.path.exists(f"/proc/{pid}") and state(pid) not in "ZX":
            time.sleep(0.001)
        self.engines.discard(pid)

    def end_engines(self):
        for pid in list(self.engines):
            if os.path.exists(f"/proc/{pid}") and os.readlink(f"/proc/{pid}/exe").startswith(os.path.realpath(self.programs)):
                self.kill_engine(pid)
        self.engines.clear()
        if home := os.environ.pop("MARTLET_HOME", None):
            shutil.rmtree(home, ignore_errors=True)

    # -- servers

    def server(self, name, *settings):
        """The URL of a server of Tests/Servers."""
        folder = self.path(f"{name}-{len(self.servers)}")
        script = os.path.join(SERVERS, name)
        out = subprocess.run(["env", *settings, script, "start", folder, "0"], capture_output=True, text=True)
        if out.returncode:
            raise Skip(out.stderr.strip())
        self.servers.append((script, folder))
        return out.stdout.split()[1]

    def nginx(self):
        """(URL, folder that it serves, the folder with its log)"""
        url = self.server("nginx")
        folder = self.servers[-1][1]
        return url, os.path.join(folder, "data"), folder

    def rules(self, *rules):
        """Sets the rules of the fault proxy that was started last."""
        script, folder = self.servers[-1]
        subprocess.run([script, "rules", folder, *rules], check=True)

    def receiver(self):
        """(URL, folder) of a `martlet receive`."""
        folder = self.path("received")
        os.makedirs(folder, exist_ok=True)
        # Open, as the servers of the other rows are: peers have no token.
        command = [self.programs + "/martlet-receive", "--open", folder]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.children.append((process, folder))
        return process.stdout.readline().split()[1], folder

    def end_all(self):
        self.end_engines()
        for script, folder in self.servers:
            subprocess.run([script, "crash", folder])
            shutil.rmtree(folder, ignore_errors=True)
        self.servers.clear()
        for process, folder in self.children:
            process.kill()
            process.wait()
            shutil.rmtree(folder, ignore_errors=True)
        self.children.clear()


def state(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(") ", 1)[1][0]
    except OSError:
        return "X"


def cpu_seconds(pid):
    """User and system time of a process and its threads, so far."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def run_seconds(pid):
    """The same by the scheduler's own clock, which counts nanoseconds and not ticks."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/schedstat") as file:
                total += int(file.read().split()[0])
        except OSError:
            pass  # it has ended since
    return total / 1e9


def wake_ups(pid):
    """How often each of its threads gave up the processor by itself, so far: {thread: count}."""
    counts = {}
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/status") as file:
                for line in file:
                    if line.startswith("voluntary_ctxt_switches"):
                        counts[thread] = int(line.split()[1])
        except OSError:
            pass  # it has ended since
    return counts


def woken_since(pid, before):
    """Wake-ups of all threads since `before`, a value of `wake_ups`."""
    return sum(count - before.get(thread, 0) for thread, count in wake_ups(pid).items())


def dispatch_threads(pid):
    """The threads of libdispatch, whose own clock looks once a second whether it has threads enough, as soon as anything runs on them."""
    found = set()
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/comm") as file:
            if "qos" in file.read():
                found.add(thread)
    return found


def memory_peak(pid):
    """VmHWM in MiB."""
    with open(f"/proc/{pid}/status") as file:
        for line in file:
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
    return 0


def until(condition, seconds=300, pause=0.002):
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            raise RuntimeError("it did not happen within %d s" % seconds)
        time.sleep(pause)
    return value


def verdict(good):
    return "ok" if good else "MISSED"


def times(values):
    return f"{min(values):.2f} s ({statistics.median(values):.2f})"
