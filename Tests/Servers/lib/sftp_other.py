"""SFTP version 3 on standard input and output: sftp_other.py DIR QUIRK… [what a client tells ssh]. See ../sftp-other."""
import errno
import json
import os
import stat
import struct
import sys
import time

dir_, words = os.path.abspath(sys.argv[1]), sys.argv[2:]
truncates, can_rename = "truncates" in words, "norename" not in words
extended = "extensions" in words
rate = next((int(word[5:]) for word in words if word.startswith("rate=")), 0)
root = os.fsencode(dir_ + "/data")
os.makedirs(root, exist_ok=True)

INIT, VERSION, OPEN, CLOSE, READ, WRITE, LSTAT, FSTAT, SETSTAT, FSETSTAT, OPENDIR, READDIR, REMOVE, MKDIR, RMDIR, \
    REALPATH, STAT, RENAME = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18
STATUS, HANDLE, DATA, NAME, ATTRS, EXTENDED = 101, 102, 103, 104, 105, 200
OK, EOF, NO_FILE, DENIED, FAILURE, UNSUPPORTED = 0, 1, 2, 3, 4, 8
source, sink = sys.stdin.buffer, sys.stdout.buffer
handles, facts = {}, {"came": 0, "payload": 0, "opened": 0, "removed": 0, "renamed": 0}


def text(data):
    return struct.pack(">I", len(data)) + data


class Packet:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, size=4):
        value = int.from_bytes(self.data[self.at:self.at + size], "big")
        self.at += size
        return value

    def text(self):
        size = self.number()
        self.at += size
        return self.data[self.at - size:self.at]

    def path(self):
        """Where a client's path is below DIR/data; what leads outside is the root."""
        name = os.path.normpath(b"/" + self.text().lstrip(b"/"))
        return root + name if name != b"/" else root

    def attributes(self):
        flags, found = self.number(), {}
        if flags & 1:
            found["size"] = self.number(8)
        if flags & 2:
            self.number(), self.number()
        if flags & 4:
            found["mode"] = self.number()
        if flags & 8:
            found["times"] = (self.number(), self.number())
        return found


def attributes(about):
    return struct.pack(">IQIIIII", 15, about.st_size, about.st_uid, about.st_gid, about.st_mode,
                       int(about.st_atime), int(about.st_mtime))


def change(target, found):
    if "size" in found:
        os.truncate(target, found["size"])
    if "mode" in found:
        os.chmod(target, stat.S_IMODE(found["mode"]))
    if "times" in found:
        os.utime(target, found["times"])


def status(code, words=b""):
    return bytes([STATUS]), struct.pack(">I", code) + text(words) + text(b"")


def answer(kind, packet):
    if kind == OPEN:
        path, flags = packet.path(), packet.number()
        mode = {1: os.O_RDONLY, 2: os.O_WRONLY, 3: os.O_RDWR}[flags & 3]
        mode |= (os.O_CREAT if flags & 8 else 0) | (os.O_EXCL if flags & 32 else 0)
        mode |= os.O_TRUNC if flags & 16 or (truncates and flags & 2) else 0
        facts["opened"] += 1
        name = b"%d" % facts["opened"]
        handles[name] = os.open(path, mode, 0o644)
        return bytes([HANDLE]), text(name)
    if kind == OPENDIR:
        facts["opened"] += 1
        name = b"%d" % facts["opened"]
        handles[name] = [entry.encode() if isinstance(entry, str) else entry for entry in os.listdir(packet.path())]
        return bytes([HANDLE]), text(name)
    if kind in (CLOSE, READ, WRITE, FSTAT, FSETSTAT, READDIR):
        name = packet.text()
        handle = handles[name]
        if kind == CLOSE:
            del handles[name]
            if isinstance(handle, int):
                os.close(handle)
            return status(OK)
        if kind == READ:
            offset, size = packet.number(8), packet.number()
            data = os.pread(handle, size, offset)
            return (bytes([DATA]), text(data)) if data else status(EOF)
        if kind == WRITE:
            offset, data = packet.number(8), packet.text()
            os.pwrite(handle, data, offset)
            facts["payload"] += len(data)
            if rate:
                time.sleep(len(data) / rate)
            return status(OK)
        if kind == FSTAT:
            return bytes([ATTRS]), attributes(os.fstat(handle))
        if kind == READDIR:
            if not handle:
                return status(EOF)
            entry = handle.pop()
            return bytes([NAME]), struct.pack(">I", 1) + text(entry) + text(entry) + struct.pack(">I", 0)
        change(handle, packet.attributes())
        return status(OK)
    if kind in (STAT, LSTAT):
        path = packet.path()
        return bytes([ATTRS]), attributes(os.stat(path) if kind == STAT else os.lstat(path))
    if kind == REALPATH:
        name = os.path.normpath(b"/" + packet.text())
        return bytes([NAME]), struct.pack(">I", 1) + text(name) + text(name) + struct.pack(">I", 0)
    if kind == SETSTAT:
        path = packet.path()
        change(path, packet.attributes())
        return status(OK)
    if kind == REMOVE:
        os.remove(packet.path())
        facts["removed"] += 1
        return status(OK)
    if kind == MKDIR:
        os.mkdir(packet.path())
        return status(OK)
    if kind == RMDIR:
        os.rmdir(packet.path())
        return status(OK)
    if kind == RENAME and can_rename:
        old, new = packet.path(), packet.path()
        if os.path.lexists(new):
            return status(FAILURE, b"it is there already")
        os.rename(old, new)
        facts["renamed"] += 1
        return status(OK)
    if kind == EXTENDED and extended:
        name = packet.text()
        if name == b"fsync@openssh.com":
            os.fsync(handles[packet.text()])
            return status(OK)
        if name == b"posix-rename@openssh.com":
            os.rename(packet.path(), packet.path())
            facts["renamed"] += 1
            return status(OK)
    return status(UNSUPPORTED, b"not here")


def take(size):
    data = source.read(size)
    if len(data) < size:
        raise EOFError
    facts["came"] += size
    return data


def serve():
    while True:
        size = int.from_bytes(take(4), "big")
        packet = Packet(take(size))
        kind = packet.number(1)
        if kind == INIT:
            pairs = [(b"posix-rename@openssh.com", b"1"), (b"fsync@openssh.com", b"1")] if extended else []
            body = bytes([VERSION]) + struct.pack(">I", 3) + b"".join(text(a) + text(b) for a, b in pairs)
        else:
            number = packet.data[1:5]
            packet.at = 5
            try:
                head, rest = answer(kind, packet)
            except (FileNotFoundError, NotADirectoryError):
                head, rest = status(NO_FILE, b"no such file")
            except PermissionError:
                head, rest = status(DENIED, b"no")
            except (OSError, KeyError) as error:
                code = getattr(error, "errno", None)
                head, rest = status(FAILURE, errno.errorcode.get(code, "failure").encode())
            body = head + number + rest
        sink.write(text(body))
        sink.flush()


try:
    serve()
except (EOFError, BrokenPipeError):
    pass
with open(dir_ + "/sessions", "a") as log:
    log.write(json.dumps(facts) + "\n")
try:
    sink.close()
except BrokenPipeError:
    pass
os._exit(0)
