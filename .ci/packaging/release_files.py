"""Files of a release: `release_files.py repack ARCHIVE FOLDER` and `release_files.py check FOLDER`."""

import gzip
import json
import os
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

from packaging.metadata import Metadata
from packaging.utils import canonicalize_name


def repack(archive: Path, folder: Path) -> None:
    """Write a source archive again with members in order, all of one time and without an owner."""
    time = int(os.environ["SOURCE_DATE_EPOCH"])
    with (
        tarfile.open(archive) as before,
        (folder / archive.name).open("wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=time) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as after,
    ):
        for member in sorted(before.getmembers(), key=lambda one: one.name):
            member.mtime, member.uid, member.gid, member.uname, member.gname = time, 0, 0, "", ""
            member.mode, member.pax_headers = 0o755 if member.isdir() or member.mode & 0o100 else 0o644, {}
            after.addfile(member, before.extractfile(member) if member.isfile() else None)


def check(folder: Path) -> None:
    """Exit with a line unless the metadata of both archives are valid and the bill names every pinned package."""
    project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    name = f"{project['name']}-{project['version']}"
    with tarfile.open(folder / f"{name}.tar.gz") as archive, zipfile.ZipFile(*folder.glob(f"{name}-*.whl")) as wheel:
        member = archive.extractfile(f"{name}/PKG-INFO")
        texts = [member.read() if member else b"", wheel.read(f"{name}.dist-info/METADATA")]
        for text in texts:
            Metadata.from_email(text, validate=True)  # raises, naming the field
        layers = {path.split("/")[1] for path in wheel.namelist() if path.startswith("optldp/") and path.count("/") > 1}
    if texts[0] != texts[1] or layers != {"designer", "estimators", "mechanisms", "solvers"}:
        sys.exit(f"source archive and wheel must have the same metadata and all four layers, got {sorted(layers)}")
    bill = json.loads((folder / "sbom.cdx.json").read_text())
    named = {(canonicalize_name(one["name"]), one["version"]) for one in bill["components"]}
    lines = Path(".ci/requirements.lock").read_text().splitlines()
    pins = [line.split()[0].split("==") for line in lines if "==" in line.split(";")[0]]
    missing = {(canonicalize_name(one), version) for one, version in pins} - named
    if missing:
        sys.exit(f"the bill of materials must name every pinned package, it lacks {sorted(missing)}")


if __name__ == "__main__":
    {"repack": repack, "check": check}[sys.argv[1]](*map(Path, sys.argv[2:]))
