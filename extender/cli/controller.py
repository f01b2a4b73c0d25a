"""`leeway controller`: writes extended rules as plain tolerations until SIGTERM."""

import argparse
import asyncio
import gc
import logging
import os
import signal
import socket
import uuid
from typing import Final

import uvloop
from prometheus_client import CollectorRegistry

from extender.cli import flags, logs, manual
from extender.cli.manual import Page
from extender.cluster import api
from extender.cluster.api import ApiServer, Load
from extender.config.schema import Config
from extender.control.controller import Controller
from extender.errors import ConfigError
from extender.match.lru import CacheBudget
from extender.metrics import CacheCollector, ControllerMetrics, Metrics
from extender.server.controller_listeners import ControllerListeners
from extender.server.webhook import AdmissionDoor
from extender.verbs.cel_budget import CelBudget, timed_programs

log = logging.getLogger("leeway.controller")

_PAGE: Final = Page(
    "write extended rules as plain tolerations",
    """Watch nodes and pods, and add to each pod with extended rules the plain tolerations that
    they come to: for the taints that there are, one Equal each. So the scheduler that the cluster
    has, taint-eviction, kubelet and autoscalers understand the rules, and none of them is changed.

    Replicas elect a leader, which writes; every replica answers the mutating webhook on
    /admission/mutate and the validating one on /admission/validate. Leeway never deletes a pod:
    Kubernetes evicts. $KUBECONFIG is not read.""",
    examples=[
        (
            "leeway controller --kubeconfig ~/.kube/config --leader-elect=false",
            "Compile the rules of a live cluster, alone.",
        ),
        ("leeway controller --config leeway.yaml", "Read everything from one file."),
    ],
    exit_codes={
        0: "stopped by a signal, after finishing all requests",
        2: "it could not start: invalid configuration or unreadable file",
    },
    files={"leeway.yaml": "an ExtenderConfiguration, under any name; see --config"},
    see="docs/compile-mode.md, docs/configuration.md, docs/install.md",
)


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = manual.add_command(commands, "controller", _PAGE)
    flags.add_controller_to(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Control until SIGTERM or SIGINT."""
    config = flags.effective_config(arguments)
    logs.set_up(config.logging)
    server = ApiServer(_credentials(config))
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as loop:
        loop.run(_control(config, server))
    return 0


def _credentials(config: Config) -> Load:
    """Of a kubeconfig, or of the cluster that we run in; files cannot be patched."""
    if config.kubeconfig:
        api.require_file(config.kubeconfig)
        return api.from_kubeconfig(config.kubeconfig)
    if "KUBERNETES_SERVICE_HOST" in os.environ and not config.cluster_files:
        return api.in_cluster
    raise ConfigError(["cluster.kubeconfig: leeway controller needs the cluster that it writes to"])


async def _control(config: Config, server: ApiServer) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    registry = CollectorRegistry()
    metrics = Metrics(registry)
    caches = CacheBudget(config.limits.cache_bytes)
    metrics.watch_caches(caches)
    settings = config.settings(timed_programs(caches, metrics))
    controller = Controller(
        server,
        config,
        settings,
        ControllerMetrics(registry),
        identity=f"{socket.gethostname()}_{uuid.uuid4()}",
        on_restart=lambda resource, reason: metrics.watch_restarts.labels(resource, reason).inc(),
    )
    registry.register(CacheCollector(controller.cached))
    validating = CelBudget(settings)
    mutate = controller.webhook.answer
    door = AdmissionDoor(settings, validating, limits=config.limits, metrics=metrics, mutate=mutate)
    listeners = ControllerListeners(
        config,
        door,
        registry=registry,
        source=controller,
        checks={
            "cluster": lambda: (controller.state().problem, controller.state().remark),
            "leader": controller.leadership,
        },
    )
    with validating.running():
        async with controller.running(), listeners.running() as listening:
            for listener in listening:
                print(listener, flush=True)
            gc.freeze()
            await stop.wait()
            log.info("stopping: finishing open requests")
