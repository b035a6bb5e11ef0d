"""One version of the IETF's "Resumable Uploads for HTTP", as its draft tells it: ietf.py DIR PORT VERSION ANNOUNCES QUIRK

`../ietf` says what it is for. Uploads lie in DIR/uploads/ID with what is known of them in ID.json; whole files in DIR/data.
"""
import email.utils
import json
import os
import secrets
import sys
import threading

from scripted import Answer, Broken, Scripted, run, settle

VERSION, ANNOUNCES, QUIRK = int(sys.argv[3]), sys.argv[4] == "1", sys.argv[5]
PROBLEMS = "https://iana.org/assignments/http-problem-types#"


def flag(value):
    return {"?1": True, "?0": False}.get((value or "").strip())


class Upload:
    """An upload on the disk. One writer at a time: whoever comes later ends the earlier (draft section 4.6)."""

    def __init__(self, folder, name):
        self.path = f"{folder}/uploads/{name}"
        self.writer = 0

    def load(self):
        with open(self.path + ".json") as f:
            return json.load(f)

    def store(self, facts):
        with open(self.path + ".new", "w") as f:
            json.dump(facts, f)
            settle(f)
        os.rename(self.path + ".new", self.path + ".json")


class Resumable(Scripted):
    shown = ("Upload-Draft-Interop-Version", "Upload-Offset", "Upload-Complete", "Upload-Incomplete", "Upload-Length",
             "Content-Type", "If-None-Match")
    uploads = {}

    # What the versions say differently.

    @property
    def speaks(self):
        return self.headers.get("Upload-Draft-Interop-Version") == str(VERSION)

    def completion(self, whole):
        if VERSION == 3:
            return {"Upload-Incomplete": "?0" if whole else "?1"}
        return {"Upload-Complete": "?1" if whole else "?0"}

    def says_whole(self):
        """Whether this request brings the last byte; None: it does not speak of it."""
        if VERSION == 3:
            said = flag(self.headers.get("Upload-Incomplete"))
            return None if said is None else not said
        return flag(self.headers.get("Upload-Complete"))

    def limit(self):
        if VERSION < 6 and not ANNOUNCES:
            return {}
        return {"Upload-Limit": "min-size=0, max-age=86400" if VERSION >= 7 else "min-size=0, expires=86400"}

    def draft(self, **fields):
        named = {name.replace("_", "-"): value for name, value in fields.items()}
        return {"Upload-Draft-Interop-Version": VERSION, **named}

    def problem(self, status, kind, **facts):
        body = json.dumps({"type": PROBLEMS + kind, "title": kind.replace("-", " "), **facts})
        fields = {"Upload-Offset": facts["expected-offset"]} if "expected-offset" in facts and VERSION >= 6 else {}
        return Answer(status, body, **{"Content-Type": "application/problem+json", **fields})

    def serve(self):
        if token := self.switch("token"):
            if self.headers.get("Authorization") != "Bearer " + token:
                raise Answer(401, "who are you?\n", WWW_Authenticate="Bearer")
        if self.switch("full"):
            if self.command in ("PUT", "PATCH"):
                raise Answer(507, "no room\n")
        if self.url.startswith("/uploads/"):
            return self.of_upload(self.upload(self.url[len("/uploads/"):]))
        act = getattr(self, "do_it_" + self.command.lower(), None)
        if not act:
            raise Answer(405, Allow="OPTIONS, HEAD, GET, PUT")
        return act()

    # A file's own address.

    def place(self):
        path = os.path.normpath(os.path.join(os.fsencode(self.folder), b"data", self.name.lstrip(b"/")))
        if not path.startswith(os.fsencode(self.folder) + b"/data"):
            raise Answer(403)
        return path

    def do_it_options(self):
        # A server that knows the version shows its limits (tusd and NIOResumableUpload do so in all versions).
        known = ANNOUNCES and self.speaks
        return Answer(204, Allow="OPTIONS, HEAD, GET, PUT", **(self.draft(**self.limit()) if known else {}))

    def do_it_head(self):
        path = self.place()
        if not os.path.isfile(path):
            raise Answer(404)
        modified = email.utils.formatdate(os.path.getmtime(path), usegmt=True)
        return Answer(200, Content_Length=os.path.getsize(path), Last_Modified=modified)

    def do_it_get(self):
        path = self.place()
        if not os.path.isfile(path):
            raise Answer(404)
        with open(path, "rb") as f:
            return Answer(200, f.read())

    def do_it_put(self):
        target = self.place()
        if self.headers.get("If-None-Match") == "*" and os.path.lexists(target):
            raise Answer(412)
        whole = self.says_whole()
        if not self.speaks or whole is None:
            return self.plain(target)
        name = secrets.token_hex(8)
        upload = self.uploads[name] = Upload(self.folder, name)
        os.makedirs(self.folder + "/uploads", exist_ok=True)
        open(upload.path, "wb").close()
        length = self.headers.get("Upload-Length")
        facts = {"target": os.fsdecode(target), "length": int(length) if length else (self.length if whole else None),
                 "complete": False}
        upload.store(facts)
        place = {"Location": f"/uploads/{name}"}
        if self.length or whole:
            if QUIRK == "late":  # a 104 of another version first, then ours; only the first Location counts
                self.interim(104, "Upload Resumption Supported", {"Upload-Draft-Interop-Version": 99, **place})
            self.interim(104, "Upload Resumption Supported", self.draft(**place, **self.limit()))
        return self.append(upload, facts, 0, whole, place)

    def plain(self, target):
        """As if nothing had been said: the whole, or nothing."""
        os.makedirs(os.path.dirname(target), exist_ok=True)
        part = target + b"." + secrets.token_hex(4).encode() + b".tmp"
        try:
            with open(part, "wb") as f:
                self.body(f.write)
                settle(f)
            os.rename(part, target)
        except Broken:
            os.remove(part)
            raise
        return Answer(201)

    # An upload's address.

    def upload(self, name):
        path = f"{self.folder}/uploads/{name}"
        if "/" in name or not os.path.exists(path + ".json"):
            raise Answer(404)
        return self.uploads.setdefault(name, Upload(self.folder, name))

    def of_upload(self, upload):
        if not self.speaks:
            raise Answer(400, "this upload is of another version\n")
        facts = upload.load()
        named = [n for n in ("Upload-Offset", "Upload-Complete", "Upload-Incomplete", "Upload-Length") if n in self.headers]
        if self.command in ("HEAD", "DELETE") and named:
            raise Answer(400, f"{named} do not belong here\n")
        if self.command == "HEAD":
            upload.writer += 1  # whoever still writes is ended
            fields = self.completion(facts["complete"])
            if VERSION >= 6 and facts["length"] is not None:
                fields["Upload-Length"] = facts["length"]
            return Answer(204, **self.draft(Cache_Control="no-store", Upload_Offset=os.path.getsize(upload.path), **fields))
        if self.command == "DELETE":
            upload.writer += 1
            for end in ("", ".json"):
                os.remove(upload.path + end)
            return Answer(204)
        if self.command != "PATCH":
            raise Answer(405, Allow="HEAD, PATCH, DELETE")
        return self.patch(upload, facts)

    def patch(self, upload, facts):
        if VERSION >= 6 and self.headers.get("Content-Type") != "application/partial-upload":
            raise Answer(415)
        offset = self.headers.get("Upload-Offset")
        if offset is None or not offset.isdigit():
            raise Answer(400, "no offset\n")
        if "Upload-Length" in self.headers:
            raise self.problem(400, "inconsistent-upload-length")
        if facts["complete"]:
            raise self.problem(400, "completed-upload")
        upload.writer += 1
        with self.lock:
            there = os.path.getsize(upload.path)
        if int(offset) != there:
            raise self.problem(409, "mismatching-upload-offset", **{"expected-offset": there, "provided-offset": int(offset)})
        whole = self.says_whole()
        if whole is None:
            if VERSION != 3:
                raise Answer(400, "is it complete?\n")
            whole = True  # version 3 says it by saying nothing
        return self.append(upload, facts, there, whole, {})

    def append(self, upload, facts, offset, whole, fields):
        mine = upload.writer

        def check():
            if upload.writer != mine:
                raise Broken

        told = offset
        with open(upload.path, "r+b") as f:
            f.seek(offset)

            def take(data):
                nonlocal told
                with self.lock:
                    check()
                    f.write(data)
                    f.flush()  # as much as possible is kept
                if VERSION >= 5 and f.tell() - told >= 8 << 20:
                    told = f.tell()
                    self.interim(104, "Upload Resumption Supported", self.draft(Upload_Offset=told))

            self.body(take, check)
            settle(f)
        end = offset + self.length
        if not whole:
            status = 201 if offset == 0 and fields or VERSION == 3 else 204
            said = {"Upload-Offset": end} if VERSION < 7 else {}
            return Answer(status, **self.draft(**self.completion(False), **said, **self.limit(), **fields))
        if facts["length"] is not None and end != facts["length"]:
            raise self.problem(400, "inconsistent-upload-length")
        target = os.fsencode(facts["target"])
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.link(upload.path, upload.path + ".whole")
        os.rename(upload.path + ".whole", target)
        facts["complete"] = True
        upload.store(facts)
        answer = self.draft(Upload_Offset=end, **self.completion(True), **fields)
        if QUIRK == "silent":  # tusd does not say it with the last PATCH
            answer = self.draft(Upload_Offset=end)
        if QUIRK == "swapped":  # NIOResumableUpload mixes the two fields up
            del answer[next(iter(self.completion(True)))]
            answer.update({"Upload-Incomplete": "?0"} if VERSION >= 5 else {"Upload-Complete": "?1"})
        return Answer(201, "stored\n", **answer)


run(Resumable, sys.argv[1], sys.argv[2])
