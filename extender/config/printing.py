"""Prints the effective configuration as an equivalent file."""

from typing import Final

from extender.config.loading import API_VERSION, KIND
from extender.config.schema import Config, LeaderElection, Limits, ProfileConfig, TLSFiles
from extender.match.gates import ATTRIBUTE_OF
from extender.model.core_v1 import Taint
from extender.model.documents import Plain
from extender.native.settings import CompileSettings
from extender.plugins import DEFAULT_WEIGHTS


def to_document(config: Config) -> dict[str, Plain]:
    """The configuration as the content of a file, including all defaults."""
    listen: dict[str, Plain] = {
        "scheduler": str(config.listen.scheduler),
        "ops": str(config.listen.ops),
    }
    if config.listen.admission:
        listen["admission"] = str(config.listen.admission)
    document: dict[str, Plain] = {"apiVersion": API_VERSION, "kind": KIND, "listen": listen}
    tls = {"scheduler": config.scheduler_tls, "admission": config.admission_tls}
    document["tls"] = {name: _tls_document(files) for name, files in tls.items() if files}
    document["cluster"] = _cluster_document(config)
    document["featureGates"] = {
        name: bool(getattr(config.gates, attribute)) for name, attribute in ATTRIBUTE_OF.items()
    }
    if config.profiles:
        document["profiles"] = [_profile_document(profile) for profile in config.profiles]
    return document | {
        "annotationPrefix": config.annotation_prefix,
        "reasons": config.reasons,
        "refusals": config.refusals,
        "noExecute": config.no_execute,
        "catchUp": _duration_text(config.catch_up),
        "nudge": {"perSecond": config.nudges_per_second},
        **(
            {}
            if config.max_staleness is None
            else {"maxStaleness": _duration_text(config.max_staleness)}
        ),
        "explain": {"enabled": config.explain},
        "compile": _compile_document(config.compile),
        "leaderElection": _leader_election_document(config.leader_election),
        "limits": _limits_document(config.limits),
        "logging": {"format": config.logging.format, "verbosity": config.logging.verbosity},
    }


# What a verdict depends on, by the keys of the document.
_JUDGING: Final = (
    "apiVersion",
    "kind",
    "featureGates",
    "profiles",
    "annotationPrefix",
    "reasons",
    "noExecute",
    "compile",
)


def judging_document(config: Config) -> dict[str, Plain]:
    """The part of the configuration that verdicts depend on: no files, no addresses."""
    document = to_document(config)
    chosen: dict[str, Plain] = {key: document[key] for key in _JUDGING if key in document}
    chosen["limits"] = {"annotationBytes": config.limits.annotation_bytes}
    return chosen


def _limits_document(limits: Limits) -> Plain:
    return {
        "requestBytes": limits.request_bytes,
        "inFlightBytes": limits.in_flight_bytes,
        "connections": limits.connections,
        "annotationBytes": limits.annotation_bytes,
        "cacheBytes": limits.cache_bytes,
        "bodyTimeout": _duration_text(limits.body_timeout),
        "headTimeout": _duration_text(limits.head_timeout),
        "drainTimeout": _duration_text(limits.drain_timeout),
        "writesPerSecond": limits.writes_per_second,
    }


def _compile_document(settings: CompileSettings) -> Plain:
    return {
        "schedulerNames": [*sorted(settings.scheduler_names)],
        "extraTaints": [taint_text(taint) for taint in settings.extra_taints],
        "maxTolerations": settings.max_tolerations,
        "protectedTaints": list(settings.protected_taints),
        "noExecuteGrace": _duration_text(settings.no_execute_grace),
    }


def taint_text(taint: Taint) -> str:
    """A taint as kubectl writes it."""
    value = f"={taint.value}" if taint.value else ""
    return f"{taint.key}{value}:{taint.effect}"


def _leader_election_document(election: LeaderElection) -> Plain:
    return {
        "namespace": election.namespace,
        "name": election.name,
        "leaderElect": election.leader_elect,
    }


def _tls_document(files: TLSFiles) -> Plain:
    document: dict[str, Plain] = {"certFile": files.cert_file, "keyFile": files.key_file}
    return document | ({"clientCAFile": files.client_ca_file} if files.client_ca_file else {})


def _cluster_document(config: Config) -> Plain:
    if config.kubeconfig:
        return {"kubeconfig": config.kubeconfig}
    return {"files": list(config.cluster_files)} if config.cluster_files else {}


def _profile_document(profile: ProfileConfig) -> Plain:
    plugins: list[Plain] = [
        {"name": name, "weight": weight} if DEFAULT_WEIGHTS[name] else {"name": name}
        for name, weight in profile.weights.items()
    ]
    return {"schedulerName": profile.scheduler_name, "plugins": plugins}


def _duration_text(seconds: float) -> str:
    milliseconds = round(seconds * 1000)
    return f"{milliseconds}ms" if milliseconds % 1000 else f"{milliseconds // 1000}s"
