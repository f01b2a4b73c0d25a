"""`leeway serve`: answers kube-scheduler until SIGTERM."""

import argparse
import asyncio
import gc
import logging
import os
import signal
from typing import Final

import uvloop
from prometheus_client import CollectorRegistry

from extender.cli import flags, logs, manual
from extender.cli.manual import Page
from extender.cluster import api
from extender.cluster.api import ApiServer
from extender.cluster.live import LiveSource
from extender.cluster.pending import PendingPods
from extender.cluster.source import ClusterSource, FileSource, NoSource
from extender.config.schema import Config
from extender.errors import ManifestError
from extender.match.lru import CacheBudget
from extender.metrics import Metrics
from extender.server.listeners import Server

# Allocations before a garbage collection. A call makes almost no cycles, and with Python's
# default of 700 collections took a tenth of the time of calls with new rules.
COLLECT_AFTER: Final = 10_000

log = logging.getLogger("leeway.serve")

_PAGE: Final = Page(
    "answer kube-scheduler",
    """Answer /filter, /prioritize and /preempt of kube-scheduler until SIGTERM or SIGINT. Leeway
    looks node names up in the cluster of --kubeconfig, in the cluster that it runs in, or in the
    manifests of --cluster. Without any of these it answers only requests with whole nodes.

    Each listener prints one line when it is ready. SIGHUP reloads the manifests; changed
    certificates are reloaded automatically. $KUBECONFIG is not read.""",
    examples=[
        (
            "leeway serve --cluster deploy/examples/cluster.yaml",
            "Serve a cluster from manifests on loopback.",
        ),
        (
            "leeway serve --kubeconfig ~/.kube/config --ops-listen 127.0.0.1:0",
            "Watch a live cluster, with the ops listener on a free port.",
        ),
        ("leeway serve --config leeway.yaml", "Read everything from one file."),
    ],
    exit_codes={
        0: "stopped by a signal, after finishing all requests",
        2: "it could not start: invalid configuration or unreadable file",
    },
    files={"leeway.yaml": "an ExtenderConfiguration, under any name; see --config"},
    see="docs/configuration.md, docs/endpoints.md, docs/scheduler.md",
)


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = manual.add_command(commands, "serve", _PAGE)
    flags.add_to(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Serve until SIGTERM or SIGINT."""
    config = flags.effective_config(arguments)
    logs.set_up(config.logging)
    metrics = Metrics(CollectorRegistry())
    caches = CacheBudget(config.limits.cache_bytes)
    source = _source(config, metrics, caches)
    server = Server(config, source, metrics, caches)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as loop:
        loop.run(_serve(server, source))
    return 0


def _source(config: Config, metrics: Metrics, caches: CacheBudget) -> ClusterSource:
    """From files, a kubeconfig, the cluster that we run in, or none."""
    if config.cluster_files:
        return FileSource(config.cluster_files, caches=caches)
    if config.kubeconfig:
        api.require_file(config.kubeconfig)
        load = api.from_kubeconfig(config.kubeconfig)
    elif "KUBERNETES_SERVICE_HOST" in os.environ:
        load = api.in_cluster
    else:
        return NoSource()
    return LiveSource(
        ApiServer(load),
        config.watched_resources(),
        max_staleness=config.max_staleness,
        caches=caches,
        pending=PendingPods(
            {profile.scheduler_name for profile in config.profiles}, config.annotation_prefix
        ),
        on_restart=lambda resource, reason: metrics.watch_restarts.labels(resource, reason).inc(),
    )


async def _serve(server: Server, source: ClusterSource) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    loop.add_signal_handler(signal.SIGHUP, _reload, source)
    async with server.running() as listening:
        for listener in listening:
            print(listener, flush=True)
        # Everything loaded so far stays; the collector must not visit it again and again.
        gc.freeze()
        gc.set_threshold(COLLECT_AFTER)
        await stop.wait()
        log.info("stopping: finishing open requests")


def _reload(source: ClusterSource) -> None:
    try:
        source.reload()
    except ManifestError as exc:
        log.error("reload failed, keeping the old cluster: %s", exc)  # noqa: TRY400 - a sentence
    else:
        log.info("reloaded: %s", source.state().remark)
