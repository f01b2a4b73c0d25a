"""kube-scheduler's configuration, with the fields that are checked."""

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import Struct

API_VERSION: Final = "kubescheduler.config.k8s.io/v1"
KIND: Final = "KubeSchedulerConfiguration"
DEFAULT_SCHEDULER: Final = "default-scheduler"


class PluginName(Struct, frozen=True):
    """A plugin in a list."""

    name: str = ""


class PluginSet(Struct, frozen=True):
    """The plugins that are enabled and disabled at one extension point."""

    enabled: tuple[PluginName, ...] = ()
    disabled: tuple[PluginName, ...] = ()

    def enables(self, plugin: str) -> bool:
        """Whether the plugin is listed as enabled."""
        return any(each.name == plugin for each in self.enabled)

    def disables(self, plugin: str) -> bool:
        """Whether the plugin is listed as disabled, or all are."""
        return any(each.name in (plugin, "*") for each in self.disabled)


class Plugins(Struct, frozen=True, rename="camel"):
    """The extension points that our plugins share with in-tree plugins."""

    multi_point: PluginSet = msgspec.field(default_factory=PluginSet)
    pre_filter: PluginSet = msgspec.field(default_factory=PluginSet)
    filter: PluginSet = msgspec.field(default_factory=PluginSet)
    score: PluginSet = msgspec.field(default_factory=PluginSet)

    def runs(self, plugin: str, point: str) -> bool:
        """Whether a default plugin runs at a point, as upstream expands multiPoint."""
        at: PluginSet = getattr(self, point)
        if at.enables(plugin):
            return True
        if at.disables(plugin):
            return False
        return self.multi_point.enables(plugin) or not self.multi_point.disables(plugin)


class PluginConfig(Struct, frozen=True):
    """The arguments of a plugin."""

    name: str = ""
    args: dict[str, object] = msgspec.field(default_factory=dict)


class SchedulerProfile(Struct, frozen=True, rename="camel"):
    """One profile."""

    scheduler_name: str = DEFAULT_SCHEDULER
    percentage_of_nodes_to_score: int | None = None
    plugins: Plugins = msgspec.field(default_factory=Plugins)
    plugin_config: tuple[PluginConfig, ...] = ()

    def arguments(self, plugin: str) -> Mapping[str, object]:
        """The arguments of a plugin."""
        return next((each.args for each in self.plugin_config if each.name == plugin), {})


class TLSConfig(Struct, frozen=True, rename="camel"):
    """The TLS settings for an extender."""

    insecure: bool = False
    server_name: str = ""
    ca_file: str = ""
    ca_data: str = ""
    cert_file: str = ""
    cert_data: str = ""


class Extender(Struct, frozen=True, rename="camel"):
    """One extender."""

    url_prefix: str = ""
    filter_verb: str = ""
    prioritize_verb: str = ""
    preempt_verb: str = ""
    bind_verb: str = ""
    weight: int | None = None
    node_cache_capable: bool = False
    ignorable: bool = False
    managed_resources: tuple[Mapping[str, object], ...] = ()
    http_timeout: str | int | None = msgspec.field(default=None, name="httpTimeout")
    enable_https: bool = msgspec.field(default=False, name="enableHTTPS")
    tls_config: TLSConfig | None = msgspec.field(default=None, name="tlsConfig")


class LeaderElection(Struct, frozen=True, rename="camel"):
    """The leader election; two schedulers must not share a lease."""

    leader_elect: bool = True
    resource_name: str = ""
    resource_namespace: str = ""


class SchedulerConfiguration(Struct, frozen=True, rename="camel"):
    """A KubeSchedulerConfiguration."""

    api_version: str = ""
    percentage_of_nodes_to_score: int | None = None
    pod_max_backoff_seconds: int | None = None
    leader_election: LeaderElection = msgspec.field(default_factory=LeaderElection)
    profiles: tuple[SchedulerProfile, ...] = ()
    extenders: tuple[Extender, ...] = ()

    def all_profiles(self) -> tuple[SchedulerProfile, ...]:
        """The profiles; by default one with default settings."""
        return self.profiles or (SchedulerProfile(),)
