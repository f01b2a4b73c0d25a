"""The configuration with its defaults; the names are those of the file, in snake case."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from extender import plugins
from extender.framework.interface import Settings
from extender.match.cel.cache import ProgramCache
from extender.match.gates import FeatureGates
from extender.match.lru import CacheBudget
from extender.native.settings import CompileSettings
from extender.plugins import DEFAULT_WEIGHTS


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a listener; port 0 picks a free port."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Listen:
    """The listeners."""

    scheduler: Address = Address("127.0.0.1", 8888)
    ops: Address = Address("127.0.0.1", 8080)
    admission: Address | None = None


@dataclass(frozen=True, slots=True)
class TLSFiles:
    """Certificate and key of a listener, and the CA that client certificates must be signed by."""

    cert_file: str
    key_file: str
    client_ca_file: str | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on the work for untrusted input."""

    request_bytes: int = 134_217_728
    in_flight_bytes: int = 134_217_728  # of all bodies together; at least request_bytes
    connections: int = 1_024  # of all listeners together
    annotation_bytes: int = 262_144
    cache_bytes: int = 67_108_864
    body_timeout: float = 20.0
    head_timeout: float = 5.0
    drain_timeout: float = 10.0
    writes_per_second: int = 50  # of the controller, to pods


@dataclass(frozen=True, slots=True)
class Logging:
    """Format and verbosity of the log."""

    format: Literal["text", "json"] = "text"
    verbosity: int = 0


@dataclass(frozen=True, slots=True)
class ProfileConfig:
    """A scheduler name and the plugins for its pods, with their weights."""

    scheduler_name: str
    weights: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class LeaderElection:
    """The Lease by which controllers agree on who writes."""

    namespace: str = "leeway"
    name: str = "leeway-controller"
    leader_elect: bool = True  # False: this process always writes


@dataclass(frozen=True, slots=True)
class Config:
    """The effective configuration."""

    listen: Listen = field(default_factory=Listen)
    scheduler_tls: TLSFiles | None = None
    admission_tls: TLSFiles | None = None  # None: the files of the scheduler listener
    kubeconfig: str | None = None
    cluster_files: tuple[str, ...] = ()
    gates: FeatureGates = field(default_factory=FeatureGates)
    profiles: tuple[ProfileConfig, ...] = ()  # empty: all plugins for every scheduler name
    annotation_prefix: str = "scheduling.leeway/"
    reasons: Literal["detailed", "redacted"] = "detailed"
    refusals: Literal["needed", "always"] = "needed"
    no_execute: Literal["narrow", "join"] = "narrow"
    catch_up: float = 0.05
    nudges_per_second: int = 10
    max_staleness: float | None = None
    explain: bool = False
    compile: CompileSettings = field(default_factory=CompileSettings)
    leader_election: LeaderElection = field(default_factory=LeaderElection)
    limits: Limits = field(default_factory=Limits)
    logging: Logging = field(default_factory=Logging)

    def settings(self, programs: ProgramCache | None = None) -> Settings:
        """What the plugins need to know; the caches, `programs` among them, share one budget."""
        if programs is None:
            programs = ProgramCache(CacheBudget(self.limits.cache_bytes))
        return Settings(
            gates=self.gates,
            annotation_prefix=self.annotation_prefix,
            annotation_bytes=self.limits.annotation_bytes,
            reasons=self.reasons,
            no_execute=self.no_execute,
            caches=programs.budget,
            programs=programs,
        )

    def extended_schedulers(self) -> frozenset[str]:
        """The schedulers that are known to call an extender, by their names."""
        return frozenset(profile.scheduler_name for profile in self.profiles)

    def enabled_plugins(self) -> frozenset[str]:
        """Every plugin that is on in at least one profile."""
        if not self.profiles:
            return frozenset(DEFAULT_WEIGHTS)
        named = {name for profile in self.profiles for name in profile.weights}
        return frozenset(named | {"NodeAffinity"})  # reads the annotation of pods of other profiles

    def watched_resources(self) -> frozenset[str]:
        """What has to be watched; who wakes pods must know which of them wait."""
        watched = plugins.resources(self.enabled_plugins())
        return watched | {"pods"} if self.nudges_per_second else watched
