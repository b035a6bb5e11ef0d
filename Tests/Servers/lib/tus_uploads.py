"""What resumable-upload has: tus_uploads.py uploads DIR prints one JSON object for each whole upload, `id size path`;
tus_uploads.py expire DIR says of all others that their time is over.
"""
import json
import sqlite3
import sys

verb, dir_ = sys.argv[1:3]
database = sqlite3.connect(f"file:{dir_}/uploads.db?mode=rw", uri=True, timeout=30)
if verb == "expire":
    with database:
        database.execute("UPDATE uploads SET expires_at = '2001-01-01T00:00:00+00:00' WHERE offset < upload_length")
else:
    rows = database.execute(
        "SELECT upload_id, upload_length, metadata FROM uploads WHERE offset = upload_length AND NOT is_partial")
    for name, size, text in rows:
        about = json.loads(text or "{}")
        print(json.dumps({"id": name, "size": size, "path": about.get("relativePath", about.get("filename"))}))
