"""Resolves a list of pURIs and handles, one per line. Prints the results in the same order, as JSON.

    python3 resolve.py < LIST

A name may be followed by a token, as concerts.py prints it. The resolver then waits until the registry has processed
the event of the token. PURI_RESOLVER is the address of the resolver; examples/music/run prints it.
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
