#!/usr/bin/env python3
"""Holds the server against its own document: openapi-spec-validator reads it, and schemathesis sends what it allows and
what it does not, once as a backend and once as an operator.

    Tests/Api/contract.py TOOLS      TOOLS is a venv with both programs: scripts/api-tests makes one
    Tests/Api/contract.py TOOLS 300  with so many seconds for each caller (60)

Also looked at: who is let in, of each kind of caller and for each operation; the metrics listener tells metrics and
nothing else; no key and no device token is in the log.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from rights import rights
from stage import APP, Serve, Stage, main
from wire import ask

SECONDS = 60
EXAMPLES_MAX = 25
SUCCEEDED_MIN = 500
# Fixed, so that what one run finds the next one finds too.
SEED = "20"
CHECKS = [
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
    "response_schema_conformance", "unsupported_method", "allow_header_conformance",
]
SECRET_TOKEN = "this-token-is-nobodys-business"


def validate(tools: Path, document: Path) -> list[str]:
    tried = subprocess.run(
        [tools / "bin/openapi-spec-validator", document], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        return [f"openapi-spec-validator: {tried.stdout}{tried.stderr}"]
    operations = sum(len(path) for path in json.loads(document.read_text())["paths"].values())
    print(f"openapi-spec-validator takes the document, which has {operations} operations")
    return []


def attack(tools: Path, serve: Serve, who: str, key: str, seconds: int, folder: Path) -> list[str]:
    log = folder / f"schemathesis-{who}.log"
    words = [
        tools / "bin/schemathesis", "run", f"http://127.0.0.1:{serve.port}/openapi.json",
        "--header", f"Authorization: Bearer {key}", "--checks", ",".join(CHECKS),
        "--phases", "examples,coverage,fuzzing", "--max-examples", str(EXAMPLES_MAX), "--max-time", str(seconds),
        "--seed", SEED, "--request-timeout", "10", "--continue-on-failure", "--warnings", "off",
        # A stream does not end, and a key that is revoked would end the test.
        "--exclude-path", "/v1/events", "--exclude-path", "/v1/session",
    ]
    # Requests for an app that there is go further. The path's own rules are tried by the coverage of each field.
    (folder / "schemathesis.toml").write_text(f'[parameters]\n"path.app" = "{APP}"\n')
    environment = os.environ | {
        "PYTHONPATH": str(Path(__file__).parent), "SCHEMATHESIS_HOOKS": "schemathesis_hooks"}
    with open(log, "wb") as output:
        # Some time more than it was given: it ends by itself.
        done = subprocess.run(
            words, stdout=output, stderr=output, cwd=folder, env=environment, check=False,
            timeout=seconds * 3 + 120)
    text = log.read_text(errors="replace")
    kept = Path(".build") / log.name
    kept.parent.mkdir(exist_ok=True)
    kept.write_text(text.replace(key, "KEY"))
    summary = [line for line in text.splitlines() if line.strip()][-1:]
    print(f"schemathesis as {who}: status {done.returncode}; {' '.join(summary).strip(' =')}; {kept} has all of it")
    return [f"schemathesis as {who} found something: {kept}"] if done.returncode else []


def metrics(serve: Serve) -> list[str]:
    problems = []
    told = ask(serve.metrics_port, "GET", "/metrics")
    if told.status != 200 or b"pushpool_server_" not in told.body:
        return [f"/metrics was answered with {told.status}"]
    if shutil.which("promtool"):
        checked = subprocess.run(["promtool", "check", "metrics"], input=told.body, capture_output=True, check=False)
        if checked.returncode != 0:
            problems.append(f"promtool check metrics: {(checked.stdout + checked.stderr).decode()}")
        else:
            print(f"promtool takes /metrics: {told.body.count(b'# HELP')} metrics")
    counts: dict[str, int] = {}
    for status, count in re.findall(
        rb'pushpool_server_requests_total\{[^}]*status="(\dxx)"[^}]*\} (\d+)', told.body):
        counts[status.decode()] = counts.get(status.decode(), 0) + int(count)
    told_counts = ", ".join(f"{count:,} with {status}" for status, count in sorted(counts.items()))
    print(f"the server has answered {told_counts}")
    # Requests that are all refused would show nothing of what routes do.
    if counts.get("2xx", 0) < SUCCEEDED_MIN:
        problems.append(f"fewer than {SUCCEEDED_MIN} requests were answered with 2xx: {counts}")
    for port, path in (
        (serve.port, "/metrics"), (serve.metrics_port, "/v1/fleet"), (serve.metrics_port, "/"),
        (serve.metrics_port, f"/v1/apps/{APP}/jobs"),
    ):
        status = ask(port, "GET", path).status
        if status not in (401, 404):
            problems.append(f"{path} on the other listener was answered with {status}")
    return problems


def silence(serve: Serve, keys: list[str]) -> list[str]:
    """Nothing in the log may let anybody in, or reach a device."""
    path = f"/v1/apps/{APP}/installations/fcm/{SECRET_TOKEN}"
    ask(serve.port, "PUT", path, keys[0], {"user": "somebody"})
    ask(serve.port, "PUT", path, keys[0], {"user": ""})
    ask(serve.port, "GET", path, keys[0] + "x")
    log = serve.child.log.read_text(errors="replace")
    return [f"the log has {what}" for what, secret in
            [(f"key {number}", key.split("_")[-1]) for number, key in enumerate(keys)]
            + [("a device token", SECRET_TOKEN)] if secret in log]


def run(stage: Stage) -> list[str]:
    tools = Path(sys.argv[1]).absolute()
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else SECONDS
    serve = stage.serve()
    _, server_key = stage.key("server", APP)
    _, operator_key = stage.key("operator-act")
    document = stage.folder / "openapi.json"
    document.write_bytes(ask(serve.port, "GET", "/openapi.json").body)
    problems = validate(tools, document) + rights(stage, serve, json.loads(document.read_text()))
    for who, key in (("server", server_key), ("operator-act", operator_key)):
        problems += attack(tools, serve, who, key, seconds, stage.folder)
        if not serve.child.is_running:
            return [*problems, f"serve has ended: {serve.child.end_of_log()}"]
    problems += metrics(serve) + silence(serve, [server_key, operator_key])
    return problems


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    main(run)
