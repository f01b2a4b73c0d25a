"""Loads the configuration file and the flags into one Config."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from extender.config import reading
from extender.config.reading import Reader
from extender.config.schema import (
    Config,
    LeaderElection,
    Limits,
    Listen,
    Logging,
    ProfileConfig,
    TLSFiles,
)
from extender.errors import ConfigError, DocumentError
from extender.match.gates import ATTRIBUTE_OF, FeatureGates
from extender.model import documents
from extender.model.documents import Plain
from extender.native.settings import CompileSettings
from extender.plugins import DEFAULT_WEIGHTS

API_VERSION: Final = "leeway.scheduling/v1alpha1"
KIND: Final = "ExtenderConfiguration"

_FILE_BYTES: Final = 1 << 20
_MAX_BYTES: Final = 1 << 40
# Each listener has a share of them: a quarter of fewer would be one or two.
_MIN_CONNECTIONS: Final = 16
_MAX_CONNECTIONS: Final = 1_000_000
_MAX_WEIGHT: Final = 100
_MAX_NUDGES: Final = 1_000
_MAX_WRITES: Final = 10_000
_MAX_TOLERATIONS: Final = 1_000
_MAX_GRACE: Final = 86_400  # a day
_DEFAULT_LISTEN: Final = Listen()
_DEFAULT: Final = Config()

# The path in the file that each flag overrides.
PATH_OF_FLAG: Final[Mapping[str, str]] = {
    "--scheduler-listen": "listen.scheduler",
    "--admission-listen": "listen.admission",
    "--ops-listen": "listen.ops",
    "--kubeconfig": "cluster.kubeconfig",
    "--cluster": "cluster.files",
    "--feature-gates": "featureGates",
    "--tls-cert-file": "tls.scheduler.certFile",
    "--tls-private-key-file": "tls.scheduler.keyFile",
    "--client-ca-file": "tls.scheduler.clientCAFile",
    "--admission-tls-cert-file": "tls.admission.certFile",
    "--admission-tls-private-key-file": "tls.admission.keyFile",
    "--max-request-bytes": "limits.requestBytes",
    "--max-staleness": "maxStaleness",
    "--catch-up": "catchUp",
    "--refusals": "refusals",
    "--nudges-per-second": "nudge.perSecond",
    "--enable-explain": "explain.enabled",
    "--leader-elect": "leaderElection.leaderElect",
    "--log-format": "logging.format",
    "-v": "logging.verbosity",
}


def load(file: Path | None, flags: Mapping[str, Plain]) -> Config:
    """The effective configuration; ConfigError with every problem if it is invalid."""
    data: dict[str, Plain] = {"apiVersion": API_VERSION, "kind": KIND}
    if file:
        data = _read_file(file)
    for flag, value in flags.items():
        _set(data, PATH_OF_FLAG[flag], value)
    named = {PATH_OF_FLAG[flag]: flag for flag in flags}
    try:
        return from_data(data, named)
    except ConfigError as exc:
        located = [_located(problem, file, named.values()) for problem in exc.problems]
        raise ConfigError(located) from None


def from_data(data: Mapping[str, Plain], flags: Mapping[str, str] | None = None) -> Config:
    """The configuration in a document; `flags` names the flag that set a path."""
    problems = [
        f"{key}: must be {expected}"
        for key, expected in (("apiVersion", API_VERSION), ("kind", KIND))
        if data.get(key) != expected
    ]
    config = _config(Reader(data, problems, flags=flags or {}))
    if problems:
        raise ConfigError(problems)
    return config


def _located(problem: str, file: Path | None, flags: Collection[str]) -> str:
    """The problem with its file in front; a problem with a flag has no file."""
    by_flag = problem.split(":", 1)[0] in flags
    return problem if by_flag or not file else f"{file}: {problem}"


def _read_file(file: Path) -> dict[str, Plain]:
    try:
        data = documents.parse_one(file.read_text(encoding="utf-8"), _FILE_BYTES)
    except OSError as exc:
        raise ConfigError([f"{file}: cannot be read: {exc.strerror}"]) from exc
    except (DocumentError, UnicodeDecodeError) as exc:
        raise ConfigError([f"{file}: {exc}"]) from exc
    if not isinstance(data, dict):
        raise ConfigError([f"{file}: must be a mapping with apiVersion {API_VERSION}"])
    return data


def _set(data: dict[str, Plain], path: str, value: Plain) -> None:
    """Set the value of a flag at its path in the file; mappings are merged key by key."""
    *sections, last = path.split(".")
    for section in sections:
        inner = data.get(section)
        if not isinstance(inner, dict):
            # The file has a wrong type there; leave it for the reader to report.
            if inner is not None:
                return
            inner = data[section] = {}
        data = inner
    old = data.get(last)
    merges = isinstance(old, dict) and isinstance(value, dict)
    data[last] = {**old, **value} if merges else value  # type: ignore[dict-item]


def _config(root: Reader) -> Config:
    root.known("apiVersion", "kind")
    kubeconfig, files = _cluster(root.section("cluster"))
    scheduler_tls, admission_tls = _tls(root.section("tls"))
    config = Config(
        listen=_listen(root.section("listen")),
        scheduler_tls=scheduler_tls,
        admission_tls=admission_tls,
        kubeconfig=kubeconfig,
        cluster_files=files,
        gates=_gates(root.section("featureGates")),
        profiles=_profiles(root),
        annotation_prefix=root.value(
            "annotationPrefix", _DEFAULT.annotation_prefix, reading.annotation_prefix
        ),
        reasons=root.value("reasons", _DEFAULT.reasons, reading.one_of("detailed", "redacted")),
        refusals=root.value("refusals", _DEFAULT.refusals, reading.one_of("needed", "always")),
        no_execute=root.value("noExecute", _DEFAULT.no_execute, reading.one_of("narrow", "join")),
        catch_up=root.value("catchUp", _DEFAULT.catch_up, reading.duration),
        nudges_per_second=_nudge(root.section("nudge")),
        max_staleness=root.value("maxStaleness", None, reading.duration),
        explain=_explain(root.section("explain")),
        compile=_compile(root.section("compile")),
        leader_election=_leader_election(root.section("leaderElection")),
        limits=_limits(root.section("limits")),
        logging=_logging(root.section("logging")),
    )
    root.finish()
    return config


def _listen(section: Reader) -> Listen:
    listen = Listen(
        scheduler=section.value("scheduler", _DEFAULT_LISTEN.scheduler, reading.address),
        ops=section.value("ops", _DEFAULT_LISTEN.ops, reading.address),
        admission=section.value("admission", None, reading.address),
    )
    section.finish()
    return listen


def _tls(section: Reader) -> tuple[TLSFiles | None, TLSFiles | None]:
    scheduler = _tls_files(section.section("scheduler"), client_ca=True)
    admission = _tls_files(section.section("admission"), client_ca=False)
    section.finish()
    return scheduler, admission


def _tls_files(section: Reader, *, client_ca: bool) -> TLSFiles | None:
    cert = section.value("certFile", None, reading.text)
    key = section.value("keyFile", None, reading.text)
    ca = section.value("clientCAFile", None, reading.text) if client_ca else None
    section.finish()
    if cert and key:
        return TLSFiles(cert, key, ca)
    if cert or key or ca:
        for name, value in (("certFile", cert), ("keyFile", key)):
            if not value:
                section.problem(name, "is missing: TLS needs both certFile and keyFile")
    return None


def _cluster(section: Reader) -> tuple[str | None, tuple[str, ...]]:
    kubeconfig = section.value("kubeconfig", None, reading.text)
    files: tuple[str, ...] = section.value("files", (), reading.texts)
    section.finish()
    if kubeconfig and files:
        section.problem("files", "cannot be used together with kubeconfig")
    return kubeconfig, files


def _gates(section: Reader) -> FeatureGates:
    chosen = {
        attribute: section.value(name, True, reading.boolean)
        for name, attribute in ATTRIBUTE_OF.items()
    }
    section.finish()
    return FeatureGates(**chosen)


def _profiles(root: Reader) -> tuple[ProfileConfig, ...]:
    profiles: list[ProfileConfig] = []
    for section in root.sections("profiles"):
        name = section.value("schedulerName", "", reading.text)
        if not name and "schedulerName" not in section:
            section.problem("schedulerName", "is missing")
        if any(profile.scheduler_name == name for profile in profiles):
            section.problem("schedulerName", f"{name!r} is configured twice")
        profiles.append(ProfileConfig(name, _weights(section)))
        section.finish()
    if "profiles" in root and not profiles:
        root.problem("profiles", "must name at least one profile, or be left out")
    return tuple(profiles)


def _weights(profile: Reader) -> Mapping[str, int]:
    if "plugins" not in profile:
        return DEFAULT_WEIGHTS
    weights: dict[str, int] = {}
    for section in profile.sections("plugins"):
        name = section.value("name", "", reading.text)
        default = DEFAULT_WEIGHTS.get(name, 0)
        weight = section.value("weight", default, reading.integer(0, _MAX_WEIGHT))
        if name not in DEFAULT_WEIGHTS:
            known = ", ".join(DEFAULT_WEIGHTS)
            section.problem(
                "name", f"unknown plugin {name!r}; known: {known}" if name else "is missing"
            )
        elif name in weights:
            section.problem("name", f"{name} is listed twice")
        elif weight and not default:
            section.problem("weight", f"{name} does not score, so it takes no weight")
        weights[name] = weight
        section.finish()
    if not weights:
        profile.problem("plugins", "must name at least one plugin, or be left out")
    return weights


def _limits(section: Reader) -> Limits:
    default = Limits()
    request_bytes = section.value(
        "requestBytes", default.request_bytes, reading.integer(1, _MAX_BYTES)
    )
    limits = Limits(
        request_bytes=request_bytes,
        in_flight_bytes=section.value(
            "inFlightBytes",
            max(default.in_flight_bytes, request_bytes),
            reading.integer(1, _MAX_BYTES),
        ),
        connections=section.value(
            "connections", default.connections, reading.integer(_MIN_CONNECTIONS, _MAX_CONNECTIONS)
        ),
        annotation_bytes=section.value(
            "annotationBytes", default.annotation_bytes, reading.integer(1, _MAX_BYTES)
        ),
        cache_bytes=section.value(
            "cacheBytes", default.cache_bytes, reading.integer(1, _MAX_BYTES)
        ),
        body_timeout=section.value("bodyTimeout", default.body_timeout, reading.positive_duration),
        head_timeout=section.value("headTimeout", default.head_timeout, reading.positive_duration),
        drain_timeout=section.value("drainTimeout", default.drain_timeout, reading.duration),
        writes_per_second=section.value(
            "writesPerSecond", default.writes_per_second, reading.integer(1, _MAX_WRITES)
        ),
    )
    section.finish()
    if limits.in_flight_bytes < request_bytes:
        section.problem(
            "inFlightBytes",
            f"must be at least requestBytes of {request_bytes}: a request of that size would never"
            " be read",
        )
    return limits


def _nudge(section: Reader) -> int:
    default = _DEFAULT.nudges_per_second
    per_second = section.value("perSecond", default, reading.integer(0, _MAX_NUDGES))
    section.finish()
    return per_second


def _explain(section: Reader) -> bool:
    enabled = section.value("enabled", _DEFAULT.explain, reading.boolean)
    section.finish()
    return enabled


def _compile(section: Reader) -> CompileSettings:
    default = CompileSettings()
    names = section.value("schedulerNames", tuple(default.scheduler_names), reading.texts)
    settings = CompileSettings(
        scheduler_names=frozenset(names),
        extra_taints=section.value("extraTaints", default.extra_taints, reading.taints),
        max_tolerations=section.value(
            "maxTolerations", default.max_tolerations, reading.integer(1, _MAX_TOLERATIONS)
        ),
        protected_taints=section.value(
            "protectedTaints", default.protected_taints, reading.taint_keys
        ),
        no_execute_grace=section.value(
            "noExecuteGrace", default.no_execute_grace, reading.whole_seconds(_MAX_GRACE)
        ),
    )
    section.finish()
    return settings


def _leader_election(section: Reader) -> LeaderElection:
    default = LeaderElection()
    election = LeaderElection(
        namespace=section.value("namespace", default.namespace, reading.namespace),
        name=section.value("name", default.name, reading.dns_name),
        leader_elect=section.value("leaderElect", default.leader_elect, reading.boolean),
    )
    section.finish()
    return election


def _logging(section: Reader) -> Logging:
    default = Logging()
    logging = Logging(
        format=section.value("format", default.format, reading.one_of("text", "json")),
        verbosity=section.value("verbosity", default.verbosity, reading.integer(0, 10)),
    )
    section.finish()
    return logging
