"""`leeway serve`: answer kube-scheduler until told to stop."""

import argparse
import asyncio
import gc
import logging
import os
import signal
from typing import Final

import uvloop
from prometheus_client import CollectorRegistry

from extender import plugins
from extender.cli import flags, logs, manual
from extender.cli.manual import Page
from extender.cluster import api
from extender.cluster.api import ApiServer
from extender.cluster.live import LiveSource
from extender.cluster.source import ClusterSource, FileSource, NoSource
from extender.config.schema import Config
from extender.errors import ManifestError
from extender.metrics import Metrics
from extender.server.serving import Server

# Objects made before the collector looks for cycles, of which a call makes next to none. With
# Python's 700 it took a tenth of the time of calls that meet new rules.
COLLECT_AFTER: Final = 10_000

log = logging.getLogger("leeway.serve")

_PAGE: Final = Page(
    "answer kube-scheduler",
    """Answer /filter, /prioritize and /preempt of kube-scheduler until SIGTERM or SIGINT. Leeway
    looks node names up in the cluster of --kubeconfig, in the cluster that it runs in, or in the
    manifests of --cluster. Without any of them it answers only requests that carry whole nodes.

    Leeway prints one line for each listener when it listens. On SIGHUP it reads the manifests
    again. It loads changed certificates by itself. It never reads $KUBECONFIG.""",
    examples=[
        (
            "leeway serve --cluster deploy/examples/cluster.yaml",
            "Serve a cluster from manifests on loopback.",
        ),
        (
            "leeway serve --kubeconfig ~/.kube/config --ops-listen 127.0.0.1:0",
            "Watch a live cluster, with the ops listener on a free port.",
        ),
        ("leeway serve --config leeway.yaml", "Take everything from one file."),
    ],
    exit_codes={
        0: "stopped by a signal, after finishing what had begun",
        2: "it could not start: the configuration is wrong, or a file cannot be read",
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
    source = _source(config, metrics)
    server = Server(config, source, metrics)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as loop:
        loop.run(_serve(server, source))
    return 0


def _source(config: Config, metrics: Metrics) -> ClusterSource:
    """Files, a kubeconfig, the cluster that we run in, or nothing; $KUBECONFIG is not read."""
    if config.cluster_files:
        return FileSource(config.cluster_files)
    if config.kubeconfig:
        api.require_file(config.kubeconfig)
        load = api.from_kubeconfig(config.kubeconfig)
    elif "KUBERNETES_SERVICE_HOST" in os.environ:
        load = api.in_cluster
    else:
        return NoSource()
    return LiveSource(
        ApiServer(load),
        plugins.resources(config.enabled_plugins()),
        max_staleness=config.max_staleness,
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
        # What has been loaded stays; looking at it again and again would hold up requests.
        gc.freeze()
        gc.set_threshold(COLLECT_AFTER)
        await stop.wait()
        log.info("stopping: finishing what has begun")


def _reload(source: ClusterSource) -> None:
    try:
        source.reload()
    except ManifestError as exc:
        log.error("reload failed, the old cluster stays: %s", exc)  # noqa: TRY400 - a sentence
    else:
        log.info("reloaded: %s", source.state().remark)
