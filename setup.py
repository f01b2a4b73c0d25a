"""How the part in C is built: everything else about the package is in pyproject.toml."""

import os

from setuptools import Extension, setup

# Without a compiler the package installs all the same, and `extender.rows.plain` serves. What must
# be fast, an image or a wheel, says so, and a compile that fails then fails the build.
REQUIRED = os.environ.get("LEEWAY_REQUIRE_NATIVE") == "1"
SOURCES = [
    f"extender/rows/native/{name}.c"
    for name in ("answers", "candidates", "index", "module", "questions")
]

setup(
    ext_modules=[
        Extension(
            "extender.rows._native",
            SOURCES,
            depends=["extender/rows/native/native.h"],
            extra_compile_args=["-O3", "-std=c11", "-fvisibility=hidden", "-Wall", "-Wextra"],
            py_limited_api=True,
            optional=not REQUIRED,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
