#!/usr/bin/env python3
"""What a built mortise program is made of, as a CycloneDX document on standard output.

    tools/sbom.py PROGRAM BUILD

The shared libraries are those that ldd finds for PROGRAM. What was compiled in from headers is
what ninja noted in BUILD when it compiled. Versions, origins and licences are those of the Debian
packages that own these files. The same inputs give the same document.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import uuid
from pathlib import Path
from urllib.parse import quote

# Our own folders whose objects are in the program.
FOLDERS = ("core/", "storage/", "transport/", "embed/", "tools/")
FIELDS = ("Package", "Version", "Architecture", "source:Package", "source:Version", "Homepage")


def output(*command):
    environment = {**os.environ, "LC_ALL": "C"}
    return subprocess.run(command, capture_output=True, text=True, check=True,
                          env=environment).stdout


def sha256(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def shared_libraries(program):
    """The files that the loader would use, as listed by ldd."""
    found = re.findall(r"(?:=> |^\s+)(/\S+) \(0x", output("ldd", program), re.MULTILINE)
    if missing := re.findall(r"(\S+) => not found", output("ldd", program)):
        sys.exit(f"sbom: these libraries are missing: {', '.join(missing)}")
    return sorted(set(found))


def system_headers(build):
    """The headers from outside the tree that were compiled into the program."""
    headers = set()
    ours = False
    for line in output("ninja", "-C", build, "-t", "deps").splitlines():
        if line and not line.startswith(" "):
            ours = line.startswith(FOLDERS)
        elif ours and line.strip().startswith("/usr/"):
            headers.add(os.path.normpath(line.strip()))
    if not headers:
        sys.exit(f"sbom: nothing of the program was compiled in {build}")
    return sorted(headers)


def spellings(path):
    """/lib is a link to /usr/lib, and packages were made before and after that change."""
    real = os.path.realpath(path)
    return {path, real, real.removeprefix("/usr"), "/usr" + path}


def owners(paths):
    """{path: package} according to dpkg; every file must have one."""
    wanted = {spelling: path for path in paths for spelling in spellings(path)}
    names = sorted(wanted)
    found = {}
    for at in range(0, len(names), 500):
        # dpkg-query reports spellings that it does not know, and exits with 1.
        lines = subprocess.run(["dpkg-query", "-S", *names[at:at + 500]], text=True, check=False,
                               capture_output=True).stdout.splitlines()
        for line in lines:
            package, _, path = line.partition(": ")
            if path in wanted and not package.startswith("diversion "):
                found[wanted[path]] = package.split(",")[0]
    if strange := sorted(set(paths) - set(found)):
        sys.exit(f"sbom: no Debian package has {', '.join(strange[:5])}")
    return found


def licences(package):
    """(of most files, of others) by their short names in Debian's machine-readable copyright file;
    nothing where that is prose."""
    path = Path("/usr/share/doc", package.split(":")[0], "copyright")
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    if not re.match(r"(?:\s*#.*\n)*\s*Format(?:-Specification)?:", text):
        return [], []
    most, every = [], set()
    for paragraph in re.split(r"\n\s*\n", text):
        if found := re.search(r"^License: *(\S[^\n]*?)\s*$", paragraph, re.MULTILINE):
            every.add(found[1])
            if re.search(r"^Files: *\*\s*$", paragraph, re.MULTILINE):
                most.append(found[1])
    return most, sorted(every - set(most))


def described(package):
    form = "\\n".join(f"${{{field}}}" for field in FIELDS)
    return dict(zip(FIELDS, output("dpkg-query", "-W", f"-f={form}", package).split("\n")))


def distribution():
    fields = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', Path("/etc/os-release").read_text("utf-8"),
                             re.MULTILINE))
    return fields.get("ID", "debian"), fields.get("VERSION_ID", "")


def component(package, libraries):
    known = described(package)
    vendor, release = distribution()
    purl = (f"pkg:deb/{vendor}/{known['Package']}@{quote(known['Version'], safe='')}"
            f"?arch={known['Architecture']}&distro={vendor}-{release}")
    found = {
        "type": "library", "bom-ref": purl, "name": known["Package"],
        "version": known["Version"], "purl": purl,
        "properties": [
            {"name": "debian:source",
             "value": f"{known['source:Package']} {known['source:Version']}"},
            {"name": "mortise:how", "value": "shared library" if libraries else "headers"}],
    }
    most, others = licences(package)
    if most:
        found["licenses"] = [{"license": {"name": name}} for name in most]
    if others:
        found["properties"].append({"name": "debian:other-licences", "value": "; ".join(others)})
    if not most:
        found["properties"].append({
            "name": "debian:licence-text",
            "value": f"/usr/share/doc/{known['Package']}/copyright"})
    if known["Homepage"]:
        found["externalReferences"] = [{"type": "website", "url": known["Homepage"]}]
    if libraries:
        found["components"] = [
            {"type": "file", "bom-ref": path, "name": path,
             "hashes": [{"alg": "SHA-256", "content": sha256(path)}]} for path in libraries]
    return found


def document(program, build):
    libraries = owners(shared_libraries(program))
    packages = set(libraries.values()) | set(owners(system_headers(build)).values())
    components = [component(package, sorted(path for path in libraries
                                            if libraries[path] == package))
                  for package in sorted(packages)]
    version = output(program, "--version").split()[-1]
    subject = {"type": "application", "bom-ref": "mortise", "name": "mortise",
               "version": version, "licenses": [{"license": {"id": "Apache-2.0"}}],
               "hashes": [{"alg": "SHA-256", "content": sha256(program)}]}
    content = json.dumps([subject, components], sort_keys=True)
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.4", "version": 1,
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, content)}",
        "metadata": {"component": subject},
        "components": components,
        "dependencies": [{"ref": "mortise",
                          "dependsOn": [each["bom-ref"] for each in components]}],
    }


def main(arguments):
    if len(arguments) != 2 or arguments[0].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    print(json.dumps(document(*arguments), indent=2, sort_keys=True))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
