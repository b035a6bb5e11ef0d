"""What Nextcloud's WebDAV does, as its manuals and bug reports tell it (chunked upload v2): nextcloud.py DIR PORT

`../nextcloud` says what it is for. Files lie below DIR/data/files/USER, chunks below DIR/data/uploads/USER/ID.
Switches (files in DIR, read for each request): quota BYTES, assembling SECONDS, gateway SECONDS, forget CHUNK, plain (anything:
there are no folders of chunks, as in ownCloud Infinite Scale).
"""
import hashlib
import os
import re
import shutil
import sys
import threading
import time
from email.utils import formatdate
from urllib.parse import unquote_to_bytes, urlsplit
from xml.sax.saxutils import escape

from scripted import Answer, Broken, Scripted, escaped, run, settle

ROOT = b"/remote.php/dav/"
SMALLEST, MOST = 5 << 20, 10_000


def fault(status, exception, message):
    """sabre/dav explains its errors in a document of its own."""
    body = (f'<?xml version="1.0" encoding="utf-8"?>\n<d:error xmlns:d="DAV:" xmlns:s="http://sabredav.org/ns">\n'
            f"  <s:exception>{exception}</s:exception>\n  <s:message>{escape(message)}</s:message>\n</d:error>\n")
    return Answer(status, body, Content_Type="application/xml; charset=utf-8")


class Nextcloud(Scripted):
    shown = ("Destination", "OC-Total-Length", "Overwrite", "OC-Checksum")
    #: Folders of chunks that are put together at this moment.
    assembling = set()

    def place(self, name):
        """Where a DAV path lies on the disk: (kind, path)."""
        if not name.startswith(ROOT) or b"/.." in name or b"\0" in name:
            raise fault(404, "Sabre\\DAV\\Exception\\NotFound", "File not found")
        words = name[len(ROOT):].rstrip(b"/").split(b"/")
        if words[0] not in (b"files", b"uploads") or len(words) < 2:
            raise fault(404, "Sabre\\DAV\\Exception\\NotFound", "File not found")
        home = os.path.join(os.fsencode(self.folder), b"data", *words[:2])
        os.makedirs(home, exist_ok=True)
        return words[0].decode(), os.path.join(home, *words[2:]), words[2:]

    def destination(self):
        value = self.headers.get("Destination")
        if not value:
            raise fault(400, "Sabre\\DAV\\Exception\\BadRequest", "The destination header was not supplied")
        kind, path, _ = self.place(unquote_to_bytes(urlsplit(value).path))
        if kind != "files":
            raise fault(403, "Sabre\\DAV\\Exception\\Forbidden", "The destination is no file")
        return path

    def serve(self):
        if password := self.switch("password"):
            import base64

            if self.headers.get("Authorization") != "Basic " + base64.b64encode(b"test:" + password.encode()).decode():
                raise Answer(401, fault(401, "Sabre\\DAV\\Exception\\NotAuthenticated", "No public access").body,
                             WWW_Authenticate='Basic realm="Nextcloud", charset="UTF-8"')
        if self.switch("plain") and self.name.startswith(ROOT + b"uploads/"):
            raise Answer(405 if self.command == "MKCOL" else 404)
        act = getattr(self, "do_it_" + self.command.lower(), None)
        if not act:
            raise fault(501, "Sabre\\DAV\\Exception\\NotImplemented", "There was no plugin in the system")
        kind, path, words = self.place(self.name)
        return act(kind, path, words)

    def do_it_options(self, *_):
        return Answer(200, DAV="1, 3, extended-mkcol, access-control, nextcloud-checksum-update",
                      Allow="OPTIONS, GET, HEAD, DELETE, PROPFIND, PUT, MOVE, MKCOL", MS_Author_Via="DAV")

    # Looking

    def resource(self, href, path, size=None):
        found = os.stat(path)
        folder = os.path.isdir(path) and size is None
        kind = "<d:collection/>" if folder else ""
        length = "" if folder else f"<d:getcontentlength>{found.st_size if size is None else size}</d:getcontentlength>"
        return (f"<d:response><d:href>{escape(escaped(href))}</d:href><d:propstat><d:prop>{length}"
                f"<d:getlastmodified>{formatdate(found.st_mtime, usegmt=True)}</d:getlastmodified>"
                f"<d:resourcetype>{kind}</d:resourcetype><d:getetag>{escape(self.tag(path))}</d:getetag></d:prop>"
                "<d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>")

    def tag(self, path):
        found = os.stat(path)
        return '"%s"' % hashlib.md5(f"{found.st_ino} {found.st_mtime_ns}".encode()).hexdigest()

    def do_it_propfind(self, kind, path, words):
        self.text()
        if not os.path.lexists(path):
            raise fault(404, "Sabre\\DAV\\Exception\\NotFound", "File with name could not be located")
        here = self.name.rstrip(b"/") + (b"/" if os.path.isdir(path) else b"")
        found = [self.resource(here, path)]
        if self.headers.get("Depth", "infinity") != "0" and os.path.isdir(path):
            names = sorted(os.listdir(path))
            found += [self.resource(here + n, os.path.join(path, n)) for n in names]
            if kind == "uploads" and len(words) == 1:  # the file that will be
                sizes = [os.path.getsize(os.path.join(path, n)) for n in names]
                found.append(self.resource(here + b".file", path, sum(sizes)))
        body = '<?xml version="1.0"?>\n<d:multistatus xmlns:d="DAV:">' + "".join(found) + "</d:multistatus>"
        return Answer(207, body, Content_Type="application/xml; charset=utf-8")

    def do_it_head(self, kind, path, words):
        if not os.path.isfile(path):
            raise Answer(404)
        return Answer(200, Content_Length=os.path.getsize(path), ETag=self.tag(path))

    def do_it_get(self, kind, path, words):
        if kind == "uploads":
            raise fault(405, "Sabre\\DAV\\Exception\\MethodNotAllowed", "GET is not allowed on chunks")
        if not os.path.isfile(path):
            raise fault(404, "Sabre\\DAV\\Exception\\NotFound", "File not found")
        tag, size = self.tag(path), os.path.getsize(path)
        fields = dict(Content_Type="application/octet-stream", ETag=tag, Accept_Ranges="bytes",
                      Last_Modified=formatdate(os.stat(path).st_mtime, usegmt=True))
        with open(path, "rb") as f:
            # One range alone, and only of the version that the client means; anything else is answered by the whole file.
            wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
            if not wanted or self.headers.get("If-Range", tag) not in (tag, fields["Last_Modified"]):
                return Answer(200, f.read(), **fields)
            start, end = int(wanted[1]), min(int(wanted[2] or size - 1), size - 1)
            if start >= size:
                raise fault(416, "Sabre\\DAV\\Exception\\RequestedRangeNotSatisfiable",
                            "The start offset exceeded the size of the entity")
            f.seek(start)
            return Answer(206, f.read(end - start + 1), Content_Range=f"bytes {start}-{end}/{size}", **fields)

    # Making and removing

    def do_it_mkcol(self, kind, path, words):
        if os.path.lexists(path):
            raise fault(405, "Sabre\\DAV\\Exception\\MethodNotAllowed",
                        "The resource you tried to create already exists")
        if kind == "uploads":
            self.destination()
        try:
            os.mkdir(path)
        except FileNotFoundError:
            raise fault(409, "Sabre\\DAV\\Exception\\Conflict", "Parent node does not exist")
        except FileExistsError:  # two at once
            raise fault(403, "Sabre\\DAV\\Exception\\Forbidden", "Could not create directory")
        return Answer(201)

    def do_it_delete(self, kind, path, words):
        if not os.path.lexists(path):
            raise fault(404, "Sabre\\DAV\\Exception\\NotFound", "File not found")
        shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
        return Answer(204)

    # Storing

    def room(self, more):
        quota = self.switch("quota")
        if quota is None:
            return
        used = sum(os.path.getsize(os.path.join(d, f)) for d, _, names in os.walk(self.folder + "/data") for f in names)
        if used + more > int(quota):
            raise fault(507, "Sabre\\DAV\\Exception\\InsufficientStorage", "Insufficient space in " + self.name.decode())

    def do_it_put(self, kind, path, words):
        if not os.path.isdir(os.path.dirname(path)):
            word = "NotFound" if kind == "uploads" else "Conflict"
            raise fault(404 if kind == "uploads" else 409, "Sabre\\DAV\\Exception\\" + word,
                        "Files cannot be created in non-existent collections")
        if kind == "uploads":
            self.chunk(words)
        if self.headers.get("If-None-Match") == "*" and os.path.lexists(path):
            raise fault(412, "Sabre\\DAV\\Exception\\PreconditionFailed", "An If-None-Match header was specified")
        self.room(self.length)
        was = os.path.lexists(path)
        digest = hashlib.sha256()

        def take(data):
            f.write(data)
            digest.update(data)

        # A body that is cut stays there short, under its name (nextcloud/server #62321).
        with open(path, "wb") as f:
            self.body(take)
            f.flush()
        fields = {}
        if said := self.headers.get("OC-Checksum"):
            algorithm, _, value = said.partition(":")
            if algorithm.upper() == "SHA256" and value.lower() != digest.hexdigest():
                os.remove(path)
                raise fault(400, "OCA\\DAV\\Connector\\Sabre\\Exception\\BadRequest", "Checksum mismatch")
        if (self.headers.get("X-Hash") or "").lower() in ("sha256", "all"):
            fields["X-Hash-SHA256"] = digest.hexdigest()
        self.time(path, fields)
        tag = self.tag(path)
        return Answer(204 if was else 201, **{"OC-ETag": tag, "ETag": tag, **fields})

    def time(self, path, fields):
        if said := self.headers.get("X-OC-Mtime"):
            os.utime(path, (int(said), int(said)))
            fields["X-OC-MTime"] = "accepted"

    def chunk(self, words):
        """What a chunk has to be."""
        self.destination()
        name = words[-1].decode()
        if len(words) != 2 or not name.isdigit() or not 1 <= int(name) <= MOST:
            raise fault(400, "Sabre\\DAV\\Exception\\BadRequest", "Invalid chunk name, must be numeric between 1 and 10000")
        if "OC-Total-Length" not in self.headers:
            raise fault(400, "Sabre\\DAV\\Exception\\BadRequest", "Missing or invalid OC-Total-Length header")

    # Putting together

    def do_it_move(self, kind, path, words):
        target = self.destination()
        if kind == "files":
            return self.rename(path, target)
        folder = os.path.dirname(path)
        if words[-1] != b".file" or not os.path.isdir(folder):
            raise fault(404, "Sabre\\DAV\\Exception\\NotFound", "File with name .file could not be located")
        with self.lock:
            if folder in self.assembling:  # the first MOVE still runs (rclone #6133)
                raise fault(423, "OCA\\DAV\\Connector\\Sabre\\Exception\\FileLocked", "is locked")
        if self.switch("forget"):  # nextcloud/server #28589
            name = self.switch("forget")
            os.remove(self.folder + "/forget")
            os.remove(os.path.join(folder, name.encode()))
        if not os.path.isdir(os.path.dirname(target)):
            raise fault(409, "Sabre\\DAV\\Exception\\Conflict", "The destination node is not found")
        was = os.path.lexists(target)
        if was and self.headers.get("Overwrite", "T") == "F":
            raise fault(412, "Sabre\\DAV\\Exception\\PreconditionFailed", "The destination node already exists")
        chunks = sorted(os.listdir(folder), key=lambda name: (int(name), name))
        sizes = [os.path.getsize(os.path.join(folder, name)) for name in chunks]
        total = self.headers.get("OC-Total-Length")
        if total is None or int(total) != sum(sizes):
            raise fault(400, "Sabre\\DAV\\Exception\\BadRequest",
                        f"Chunks on server do not sum up to {total} but to {sum(sizes)} bytes")
        if any(size < SMALLEST for size in sizes[:-1]):
            raise fault(400, "Sabre\\DAV\\Exception\\BadRequest", "A chunk is smaller than 5 MB")
        with self.lock:
            self.assembling.add(folder)
        work = threading.Thread(target=self.assemble, args=(folder, chunks, target), daemon=True)
        work.start()
        self.await_(work)
        fields = {"OC-FileId": "%08docabcdefghij" % os.stat(target).st_ino, "OC-ETag": self.tag(target)}
        if (self.headers.get("X-Hash") or "").lower() in ("sha256", "all"):  # the chunks are put like one body
            with open(target, "rb") as f:
                fields["X-Hash-SHA256"] = hashlib.file_digest(f, "sha256").hexdigest()
        self.time(target, fields)
        return Answer(204 if was else 201, **fields)

    def assemble(self, folder, chunks, target):
        try:
            time.sleep(float(self.switch("assembling", "0")))
            part = target + b".ocTransferId1.part"
            with open(part, "wb") as out:
                for name in chunks:
                    with open(os.path.join(folder, name), "rb") as f:
                        shutil.copyfileobj(f, out, 1 << 20)
                settle(out)
            os.rename(part, target)
            if said := self.headers.get("X-OC-Mtime"):
                os.utime(target, (int(said), int(said)))
            shutil.rmtree(folder)
        finally:
            with self.lock:
                self.assembling.discard(folder)

    def carry(self, path, target):
        """From one storage to another, which is slow."""
        try:
            time.sleep(float(self.switch("assembling", "0")))
            os.rename(path, target)
        finally:
            with self.lock:
                self.assembling.discard(path)

    def await_(self, work):
        work.join(float(self.switch("gateway", "3600")))
        if work.is_alive():  # a proxy's patience ends, the work does not
            raise Answer(504, "<html><head><title>504 Gateway Time-out</title></head></html>", Content_Type="text/html")

    def rename(self, path, target):
        if not os.path.lexists(path):
            raise fault(404, "Sabre\\DAV\\Exception\\NotFound", "File not found")
        if not os.path.isdir(os.path.dirname(target)):
            raise fault(409, "Sabre\\DAV\\Exception\\Conflict", "The destination node is not found")
        was = os.path.lexists(target)
        if was and self.headers.get("Overwrite", "T") == "F":
            raise fault(412, "Sabre\\DAV\\Exception\\PreconditionFailed", "The destination node already exists")
        with self.lock:
            if path in self.assembling:
                raise fault(423, "OCA\\DAV\\Connector\\Sabre\\Exception\\FileLocked", "is locked")
            self.assembling.add(path)
        work = threading.Thread(target=self.carry, args=(path, target), daemon=True)
        work.start()
        self.await_(work)
        return Answer(204 if was else 201, **{"OC-ETag": self.tag(target)})


run(Nextcloud, sys.argv[1], sys.argv[2])
