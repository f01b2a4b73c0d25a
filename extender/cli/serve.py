"""`leeway serve`: answer kube-scheduler until told to stop."""

import argparse
import asyncio
import logging
import signal

import uvloop

from extender.cli import flags, logs
from extender.cluster.source import ClusterSource, FileSource, NoSource
from extender.config.schema import Config
from extender.errors import ConfigError, ManifestError
from extender.plugins import NOT_BUILT
from extender.server.serving import Server

log = logging.getLogger("leeway.serve")


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser(
        "serve",
        help="answer kube-scheduler",
        description=(
            "Answer /filter, /prioritize and /preempt. Node names are looked up in the cluster of"
            " --cluster; without it only requests that carry whole nodes can be answered."
        ),
    )
    flags.add_to(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Serve until SIGTERM or SIGINT."""
    config = flags.effective_config(arguments)
    logs.set_up(config.logging)
    _require_built(config)
    source: ClusterSource = FileSource(config.cluster_files) if config.cluster_files else NoSource()
    server = Server(config, source)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as loop:
        loop.run(_serve(server, source))
    return 0


async def _serve(server: Server, source: ClusterSource) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    loop.add_signal_handler(signal.SIGHUP, _reload, source)
    async with server.running() as listening:
        for listener in listening:
            print(listener, flush=True)
        await stop.wait()
        log.info("stopping: finishing what has begun")


def _reload(source: ClusterSource) -> None:
    try:
        source.reload()
    except ManifestError as exc:
        log.error("reload failed, the old cluster stays: %s", exc)  # noqa: TRY400 - a sentence
    else:
        log.info("reloaded: %s", source.describe())


def _require_built(config: Config) -> None:
    """Refuse what this version does not do, rather than pretend."""
    problems = []
    if config.listen.admission:
        problems.append("listen.admission: this version has no admission webhook")
    if config.kubeconfig:
        problems.append("cluster.kubeconfig: this version reads clusters from files only")
    if problems:
        raise ConfigError(problems)
    named = {name for profile in config.profiles for name in profile.weights}
    for name in sorted(named & NOT_BUILT):
        log.warning("%s is not part of this version: kube-scheduler's own stays in charge", name)
