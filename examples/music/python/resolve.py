"""Resolves a mixed list: reads a pURI or handle a line, and prints a result for each, in order, as JSON.

    python3 resolve.py < LIST

A token behind a name, as concerts.py prints it, waits until the registry has answered that event.
PURI_RESOLVER tells where the resolver is; examples/music/run prints it.
"""
import json
import os
import sys
import urllib.error
import urllib.request

RESOLVER = os.environ.get("PURI_RESOLVER", "http://127.0.0.1:8080")
WAIT = 10  # seconds


def reference(line):
    ref, _, token = line.strip().partition(" ")
    return {"ref": ref, "at": token} if token else ref


def resolve(refs):
    request = urllib.request.Request(
        f"{RESOLVER}/v1/resolve?wait={WAIT}s",
        data=json.dumps({"refs": refs}).encode(),
        headers={"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=WAIT + 10) as response:
            return json.load(response)["results"]
    except urllib.error.HTTPError as problem:
        sys.exit(f"{RESOLVER}: {problem.code} {problem.read().decode()}")
    except OSError as problem:
        sys.exit(f"{RESOLVER} does not answer: {problem}")


if __name__ == "__main__":
    for result in resolve([reference(line) for line in sys.stdin]):
        print(json.dumps(result, ensure_ascii=False))
