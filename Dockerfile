# Both stages have the same Python: the virtual environment made in the first links to its
# interpreter, and the link must hold in the second. The first has a C compiler besides, for the
# rows. glibc, not musl: the wheels need it.
FROM python:3.11.15-bookworm AS build

# Where pip finds its index is the business of the machine that builds. It may hand over a pip.conf
# and a CA bundle as secrets, which are there while a step runs and never in a layer; without them
# pip does what it does by itself.
ENV PIP_CONFIG_FILE=/run/secrets/pip.conf \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_ROOT_USER_ACTION=ignore

WORKDIR /src

# Dependencies before the source: this layer stays until a lock file changes. Everything is a wheel
# with a known hash, so no foreign code runs while it is installed. pip and the build backend live
# in an environment of their own, which stays behind.
COPY requirements.lock deploy/image/build-system.lock ./
RUN --mount=type=secret,id=pip.conf --mount=type=secret,id=ca.crt \
    python3 -m venv /opt/build \
    && python3 -m venv --without-pip /opt/leeway \
    && /opt/build/bin/pip install --no-compile --require-hashes --no-deps --only-binary :all: --requirement build-system.lock \
    && /opt/build/bin/pip --python /opt/leeway/bin/python3 install --no-compile --require-hashes --no-deps --only-binary :all: --requirement requirements.lock

COPY pyproject.toml setup.py README.md LICENSE ./
COPY extender extender
# Bytecode is made here, because a read-only root file system cannot take it later. It is not
# checked against its source at start: both are in the same layer. An image without compiled rows
# would be slow, so it is not built.
RUN LEEWAY_REQUIRE_NATIVE=1 /opt/build/bin/pip wheel --no-index --no-deps --no-build-isolation --wheel-dir dist . \
    && /opt/build/bin/pip --python /opt/leeway/bin/python3 install --no-compile --no-index --no-deps dist/*.whl \
    && /opt/leeway/bin/python3 -m compileall -q --invalidation-mode unchecked-hash /opt/leeway/lib


FROM python:3.11.15-slim-bookworm

LABEL org.opencontainers.image.title="Leeway" \
      org.opencontainers.image.description="A scheduler extender for Kubernetes that understands numeric and semantic-version tolerations." \
      org.opencontainers.image.licenses="Apache-2.0"

COPY --from=build /opt/leeway /opt/leeway

# The base comes without bytecode of the standard library, and each start on a read-only root would
# compile it anew: half a second of a whole core. One start here writes down what a start needs.
# The compiled rows must load: without them Python would serve, slowly and in silence.
RUN /opt/leeway/bin/leeway version && /opt/leeway/bin/python3 -c 'import extender.rows._native'

# Nothing is ever written; log lines leave at once.
ENV PATH=/opt/leeway/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1

# Numbers, not names: runAsNonRoot can tell only from a number that it is not root, and the image
# needs no entry in /etc/passwd.
USER 65532:65532

# The scheduler listener and the ops listener. Health is asked by the cluster's probes on the latter.
EXPOSE 8888 8080

ENTRYPOINT ["/opt/leeway/bin/leeway"]
CMD ["serve", "--scheduler-listen", "0.0.0.0:8888", "--ops-listen", "0.0.0.0:8080"]
