"""Takes POSTs and remembers each of them: forms.py DIR PORT. `../forms` says what it is for."""
import hashlib
import json
import os
import sys
import time

from scripted import Answer, Broken, Scripted, run


class Forms(Scripted):
    shown = ("Content-Type", "Expect", "Authorization", "Idempotency-Key")
    numbers = 0

    def serve(self):
        if self.command != "POST":
            raise Answer(405, Allow="POST")
        words = self.url.strip("/").split("/")
        if words[0] == "refuse":  # before the body is looked at
            raise Answer(int(words[1]), "not now\n", **({"Retry-After": words[2]} if len(words) > 2 else {}))
        with self.lock:
            Forms.numbers += 1
            number = Forms.numbers
        path = f"{self.folder}/data/{os.getpid()}-{number}"
        digest = hashlib.sha256()
        with open(path, "wb") as f:

            def take(data):
                f.write(data)
                digest.update(data)

            try:
                self.body(take)
            finally:
                f.flush()
                self.remarks = {"file": path, "sha256": digest.hexdigest()}
        # From here on it has happened, whoever hears of it.
        with open(self.folder + "/done", "a") as f:
            f.write(json.dumps({"path": self.path, "file": path, "bytes": self.came, **self.remarks,
                                **{n: self.headers[n] for n in self.shown if n in self.headers}}) + "\n")
        if words[0] == "slow":  # the answer waits until a test lets it go
            while not os.path.exists(self.folder + "/go"):
                time.sleep(0.01)
        if words[0] == "lost":
            raise Broken
        if words[0] == "answer":
            raise Answer(int(words[1]), f"answer {words[1]}\n")
        if words[0] == "see":
            raise Answer(303, Location="/result")
        if words[0] == "elsewhere":
            raise Answer(307, Location="/" + "/".join(words[1:]))
        body = json.dumps({"id": number, "note": "stored \u2713", "bytes": self.came}) + "\n"
        return Answer(201, body, **{"Content-Type": "application/json", "X-Request-Id": f"r-{number}", "ETag": f'"{number}"'})


run(Forms, sys.argv[1], sys.argv[2])
