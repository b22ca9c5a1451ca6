#!/usr/bin/env python3
"""Holds the bill of materials against CycloneDX's schema, and against what is linked.

    Tests/Deploy/sbom.py PROGRAMS [FILE]   by a Python that has cyclonedx-python-lib; FILE is that of an image
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

project = Path(__file__).resolve().parent.parent.parent


def fail(sentence):
    sys.exit(f"sbom: FAILED: {sentence}")


def made(programs, moment):
    return subprocess.run(
        [project / "scripts/sbom", programs], capture_output=True, text=True, check=True,
        env={**os.environ, "SOURCE_DATE_EPOCH": str(moment)}).stdout


def check(text, what):
    if problem := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        fail(f"{what} is not valid: {problem}")
    bill = json.loads(text)
    refs = {one["bom-ref"] for one in bill["components"]} | {bill["metadata"]["component"]["bom-ref"]}
    for edge in bill["dependencies"]:
        if lacking := {edge["ref"], *edge["dependsOn"]} - refs:
            fail(f"{what} depends on what it does not have: {sorted(lacking)[0]}")
    return bill


def check_other_version():
    """Programs of another version are refused: the checkout does not know what is in them."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "pushpool"
        program.write_text("#!/bin/sh\necho 0.0.1\n")
        program.chmod(0o755)
        done = subprocess.run([project / "scripts/sbom", folder], capture_output=True, text=True)
    if done.returncode == 0 or done.stdout or "is of version 0.0.1" not in done.stderr:
        fail(f"a program of another version is not refused: {done.returncode} {done.stderr}")


def main():
    programs = Path(sys.argv[1])
    text = made(programs, 1_750_000_000)
    if made(programs, 1_750_000_000) != text:
        fail("two of the same programs differ")
    bill = check(text, "the bill of materials")
    sources = {one["name"]: one["value"] for one in bill["metadata"]["properties"]}
    if sources["pushpool:source-of-version"] != "told by the programs":
        fail(f"the version is {sources['pushpool:source-of-version']}")
    check_other_version()
    named = {one["name"]: one for one in bill["components"]}
    pins = json.loads((project / "deploy/package-versions.json").read_text())["pins"]
    if lacking := {pin["identity"] for pin in pins} - set(named):
        fail(f"it does not name {sorted(lacking)}")
    edges = {edge["ref"]: set(edge["dependsOn"]) for edge in bill["dependencies"]}
    for program in ("pushpool", "pushpool-server", "pushpool-simulator"):
        if not re.fullmatch("[0-9a-f]{64}", named[program]["hashes"][0]["content"]):
            fail(f"{program} has no digest")
    linked = " ".join(edges["program:pushpool"])
    for library in ("ssl", "curl", "hiredis", "nghttp2"):
        if library not in linked:
            fail(f"pushpool links no {library}: {linked}")
    if "curl" in " ".join(edges["program:pushpool-simulator"]):
        fail("the simulator links libcurl, which only workers use")
    print(f"sbom: valid CycloneDX 1.6, {len(bill['components'])} components")
    for file in sys.argv[2:]:
        bill = check(Path(file).read_text(), "the image's bill of materials")
        print(f"sbom: of the image, valid, {len(bill['components'])} components")


main()
