"""Keeps a complete copy of the registry's rows in memory. Reads one export, then the changes from its cursor.

    python3 replica.py [RESOLVER]

Reads pURIs from stdin and prints their rows. For an empty line, prints all rows, sorted, and an empty line.
PURI_TOKEN is sent as a bearer token (scope "changes"). docs/export.md explains why the copy is exact.
"""
import hashlib
import http.client
import json
import os
import sys
import threading
import time
import urllib.request

RESOLVER = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8080"
SILENCE = 60  # seconds without a byte; a stream of changes sends something every 15

rows = {}  # the rows as JSON lines, by pURI
cursor = None  # position in the stream of changes; None if an export is needed


def get(path, headers=None):
    request = urllib.request.Request(RESOLVER + path, headers=headers or {})
    if "PURI_TOKEN" in os.environ:
        request.add_header("Authorization", "Bearer " + os.environ["PURI_TOKEN"])
    return urllib.request.urlopen(request, timeout=SILENCE)


def take_export():
    """Fills a new copy, which replaces the old one only when it is complete."""
    global rows, cursor
    copy, start, count, digest = {}, None, 0, hashlib.sha256()
    with get("/v1/export") as lines:
        for line in lines:
            value = json.loads(line)
            if "puri" in value:
                copy[value["puri"]] = line.decode().rstrip("\n")
                count += 1
            elif "changesFrom" in value:
                start = value["changesFrom"]
            elif value["rows"] != count or value["sha256"] != digest.hexdigest():
                raise OSError("the export is damaged")
            else:
                rows, cursor = copy, start
                print(f"{count} rows exported", file=sys.stderr, flush=True)
                return
            digest.update(line)
    raise OSError("the export was cut off")


def follow():
    """Applies changes until the connection ends. Sets the cursor to that of the last applied change."""
    global cursor
    event = {}
    with get("/v1/changes", {"Last-Event-ID": cursor}) as lines:
        for line in lines:
            if not line.endswith(b"\n"):
                return  # cut off
            text = line.decode().rstrip("\n")
            if text:
                field, _, value = text.partition(":")  # a comment is a field without a name
                event[field] = value.removeprefix(" ")
                continue
            kind = event.get("event")
            if kind == "reset":
                cursor = None
                return
            if kind == "changed":
                rows[json.loads(event["data"])["puri"]] = event["data"]
            if kind == "erased":
                rows.pop(json.loads(event["data"])["puri"], None)
            cursor = event.get("id", cursor)
            event = {}


def keep():
    while True:
        try:
            if cursor is None:
                take_export()
            follow()
        except (OSError, ValueError, http.client.HTTPException) as problem:
            print(problem, file=sys.stderr, flush=True)
        time.sleep(1)


threading.Thread(target=keep, daemon=True).start()
for asked in sys.stdin:
    puri = asked.rstrip("\n")
    print(rows.get(puri, "null") if puri else "\n".join(sorted(dict(rows).values())) + "\n", flush=True)
