"""What `leeway doctor` asks the API server."""

import contextlib
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, TypeVar

from extender.cluster import access_reviews, listing
from extender.cluster.access_reviews import Access
from extender.cluster.api import ApiServer, Connection
from extender.cluster.resources import Object, Resource
from extender.config.schema import Config
from extender.control.lease import LeaseClient, LeaseSpec
from extender.errors import ApiForbiddenError, ConfigError
from extender.model.documents import Plain
from extender.review.doctor import compile_mode, leader, rights, webhooks, whitelists
from extender.review.doctor.leader import Held
from extender.review.doctor.problems import Problem
from extender.review.doctor.setup import Setup
from extender.review.doctor.webhooks import FoundWebhooks
from extender.review.scan import objects

CONFIG_MAP: Final = "configmap/"
_ORIGIN: Final = "cluster"

T = TypeVar("T", bound=Object)


@dataclass(frozen=True, slots=True)
class Users:
    """Whose rights are checked; empty: our own, and nobody's."""

    leeway: str = ""
    scheduler: str = ""


@dataclass(slots=True)
class Findings:
    """What the API server told: its version, problems, and what it does not let us see."""

    version: tuple[int, int] | None = None
    problems: list[Problem] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


async def ask(
    server: ApiServer, sources: Iterable[str], namespace: str, users: Users, setup: Setup
) -> Findings:
    """Read the ConfigMaps into the setup, then ask for everything that the checks need."""
    found = Findings()
    async with server.connect() as connection:
        for source in sources:
            if source.startswith(CONFIG_MAP):
                name, _, key = source.removeprefix(CONFIG_MAP).partition(":")
                data = await access_reviews.config_map(connection, namespace, name)
                _add_config_map(setup, f"{namespace}/{name}", data, key)
        with contextlib.suppress(ApiForbiddenError):  # only a few checks depend on it
            found.version = await access_reviews.server_version(connection)
        if setup.controller is not None:
            await _compile_mode(connection, setup, found)
            await _lease(server, setup.controller[1], found)
        await _pods(connection, setup, found)
        await _rights(connection, users, setup, found)
    return found


def _add_config_map(setup: Setup, origin: str, data: object, key: str) -> None:
    if not isinstance(data, dict) or (key and key not in data):
        raise ConfigError([f"configmap/{origin}: it has no key {key!r}"])
    chosen: Plain = {name: text for name, text in data.items() if not key or name == key}
    setup.add(_ORIGIN, {"kind": "ConfigMap", "metadata": {"name": origin}, "data": chosen})


async def _compile_mode(connection: Connection, setup: Setup, found: Findings) -> None:
    with _where_allowed("the mutating webhooks of the cluster", found):
        async for configuration in _listed(connection, webhooks.RESOURCE):
            setup.add_webhooks(FoundWebhooks(_ORIGIN, configuration, is_live=True))
        setup.webhooks_listed = True
    with _where_allowed("toleration whitelists of namespaces", found):
        async for namespace in _listed(connection, whitelists.RESOURCE):
            setup.add_namespace(namespace)


async def _lease(server: ApiServer, config: Config, found: Findings) -> None:
    election = config.leader_election
    if not election.leader_elect:
        found.skipped.append("the leader, because leaderElection.leaderElect is false")
        return
    client = LeaseClient(server, election.namespace, election.name)
    try:
        with _where_allowed("the leader", found):
            lease = await client.get()
            where = f"Lease {election.namespace}/{election.name}"
            held = _held(lease.spec) if lease else None
            found.problems += leader.check_lease(where, held, datetime.now(UTC))
    finally:
        await client.close()


def _held(spec: LeaseSpec) -> Held:
    renewed = None
    with contextlib.suppress(ValueError, TypeError):
        renewed = datetime.fromisoformat(spec.renew_time or "").astimezone(UTC)
    return Held(spec.holder_identity or "", renewed, spec.lease_duration_seconds or 0)


async def _pods(connection: Connection, setup: Setup, found: Findings) -> None:
    """List the pods with rules, if a gate is off that they could need."""
    configs = [config for _, config in (*setup.extenders, *setup.controllers)]
    judging = [config.settings() for config in configs if compile_mode.gates_off(config)]
    if not judging:
        return
    with _where_allowed("whether pods use a feature gate that is off", found):
        async for pod in _listed(connection, objects.RESOURCES["Pod"]):
            if any(compile_mode.has_rules(pod, settings) for settings in judging):
                setup.workloads.append(("Pod", pod))


async def _rights(connection: Connection, users: Users, setup: Setup, found: Findings) -> None:
    user, controller = users.leeway, setup.controller
    if controller is not None and setup.only_compiles:
        refused = await _answered(
            connection, rights.needed_by_controller(controller[1]), user, allowed=False
        )
        found.problems += rights.check_controller(refused, user)
        if user:
            excess = await _answered(connection, rights.NEVER, user, allowed=True)
            found.problems += rights.check_excess(excess, user)
        else:
            found.skipped.append(
                "whether the controller may do more than it needs, because no account was named"
                " (--as)"
            )
    else:
        ours = setup.extenders[0][1] if setup.extenders else None
        refused = await _answered(connection, rights.needed(ours), user, allowed=False)
        found.problems += rights.check(refused, user)
        if controller is not None:
            found.skipped.append(
                "the rights of the controller, because there is an extender, too; give the"
                " controller's configuration alone"
            )
    if users.scheduler:
        needed = [a for _, config in setup.schedulers for a in rights.needed_by_scheduler(config)]
        refused = await _answered(connection, needed, users.scheduler, allowed=False)
        found.problems += rights.check_scheduler(refused, users.scheduler)


async def _answered(
    connection: Connection, asked: Iterable[Access], user: str, *, allowed: bool
) -> list[Access]:
    """Those that the user may do, or may not."""
    return [
        access
        for access in asked
        if await access_reviews.is_allowed(connection, access, user) == allowed
    ]


async def _listed(connection: Connection, resource: Resource[T]) -> AsyncIterator[T]:
    async for _, page in listing.pages(connection, resource):
        for item in page.items or ():
            yield item


@contextlib.contextmanager
def _where_allowed(what: str, found: Findings) -> Iterator[None]:
    try:
        yield
    except ApiForbiddenError as exc:
        found.skipped.append(f"{what}, because the API server refuses: {exc}")
