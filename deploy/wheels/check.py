"""Check that the extension of each wheel is what the name of the wheel says.

Its machine, nothing needed but the C library, and no symbol of a newer glibc than was asked for.
"""

import io
import sys
import zipfile

from elftools.elf.elffile import ELFFile

MACHINES = {"x86_64": "EM_X86_64", "aarch64": "EM_AARCH64"}
LIBRARIES = {"libc.so.6", "ld-linux-aarch64.so.1", "ld-linux-x86-64.so.2"}


def problems(wheel, glibc):
    """Whatever is wrong with a wheel, in sentences."""
    with zipfile.ZipFile(wheel) as archive:
        extensions = [name for name in archive.namelist() if name.endswith(".so")]
        if extensions != ["extender/rows/_native.abi3.so"]:
            yield f"its extensions are {extensions}"
            return
        elf = ELFFile(io.BytesIO(archive.read(extensions[0])))
    architecture = next(name for name in MACHINES if wheel.endswith(f"{name}.whl"))
    if elf["e_machine"] != MACHINES[architecture]:
        yield f"its extension is for {elf['e_machine']}"
    tags = elf.get_section_by_name(".dynamic").iter_tags()
    needed = {tag.needed for tag in tags if tag.entry.d_tag == "DT_NEEDED"}
    if needed - LIBRARIES:
        yield f"it needs {needed - LIBRARIES}"
    for version in versions(elf):
        if tuple(map(int, version.split("."))) > tuple(map(int, glibc.split("."))):
            yield f"it needs glibc {version}"


def versions(elf):
    """The versions of glibc that the symbols of an extension ask for."""
    section = elf.get_section_by_name(".gnu.version_r")
    for _library, wanted in section.iter_versions() if section is not None else ():
        for each in wanted:
            if each.name.startswith("GLIBC_"):
                yield each.name.removeprefix("GLIBC_")


def main():
    """Say what is wrong, and exit with 1 if anything is."""
    glibc, *wheels = sys.argv[1:]
    found = [f"{wheel}: {problem}" for wheel in wheels for problem in problems(wheel, glibc)]
    sys.exit("\n".join(found) or None)


if __name__ == "__main__":
    main()
