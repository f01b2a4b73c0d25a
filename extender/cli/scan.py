"""`leeway scan`: which workloads use which rules, and which rules do not fit the cluster."""

import argparse
import asyncio
import sys
from collections.abc import Callable
from typing import Final

from extender.cli import flags, manual, output, scan_output, sources
from extender.cli.manual import Page
from extender.cli.progress import Progress
from extender.cluster import listing, manifests
from extender.cluster.api import ApiServer
from extender.cluster.cache import ClusterCache
from extender.cluster.resources import Resource, key_of
from extender.config.schema import Config
from extender.errors import ApiForbiddenError, ConfigError, SelectorError
from extender.match import label_selectors
from extender.match.label_selectors import Selector
from extender.review.doctor import problems
from extender.review.scan import objects, report
from extender.review.scan.inventory import Inventory
from extender.review.scan.report import Report
from extender.review.scan.selection import Selection
from extender.verbs.profiles import Profiles

_STORAGE: Final = frozenset({"persistentvolumes", "persistentvolumeclaims", "storageclasses"})
_PAGE: Final = Page(
    "show who uses which rule, and what does not fit",
    """List the workloads of a cluster, or of manifests, that use extended rules, by gate and
    operator: they are affected when you turn a gate off or remove Leeway. The scan covers the
    native fields and annotations of Pods, Deployments, StatefulSets, DaemonSets, ReplicaSets,
    Jobs, CronJobs and PersistentVolumes; pods and jobs count for the workload that owns them.

    Then show what does not fit: taints and labels that a rule cannot parse, rules that cannot be
    parsed themselves, pods that are Pending because no node passes Leeway's rules, DaemonSets
    with rules that the DaemonSet controller does not see, NoExecute taints that only an annotation
    tolerates, annotated volumes that are bound too late, and rules that no scheduler reads. Of
    pods in compile mode, show which are behind, cut or refused, and which tolerate more than
    their rules say. The verdicts come from the code that answers kube-scheduler.

    Without PATH, the command lists the cluster that kubectl would use: of --kubeconfig,
    $KUBECONFIG or ~/.kube/config, else the one that it runs in. It changes nothing. It names
    the resources that you may not list and goes on without them. Pass the configuration of your
    Leeway with --config, so that the scan knows which profiles are Leeway's.""",
    examples=[
        ("leeway scan deploy/examples/", "Workloads and nodes of manifests."),
        ("leeway scan", "The cluster that kubectl would use."),
        ("leeway scan -n batch -l app=report deploy/examples/", "Some workloads."),
        ("leeway scan --context prod --config leeway.yaml -o json > scan.json", "As data."),
        (
            "kubectl get nodes,pods,deployments -A -o json | leeway scan -",
            "With the rights of kubectl.",
        ),
    ],
    exit_codes={
        0: "everything fits; using a rule is not a finding",
        1: "at least one error: a rule that cannot be parsed and never matches",
        2: "the scan failed: a wrong command line, an unreadable file, or an unreachable server",
        3: "no error, but something does not fit or could not be listed",
    },
    files={"leeway.yaml": "an ExtenderConfiguration, under any name; see --config"},
    see="docs/scan.md",
)


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = manual.add_command(commands, "scan", _PAGE)
    parser.add_argument(
        "files",
        nargs="*",
        metavar="PATH",
        help="manifests: files or folders of YAML or JSON, - for standard input",
    )
    flags.add_rules_to(parser)
    flags.add_filename(parser)
    flags.add_kubeconfig(parser)
    parser.add_argument(
        "-A", "--all-namespaces", action="store_true", help="scan all namespaces (the default)"
    )
    flags.add_cluster(parser, "the same as PATH, as in the other commands")
    parser.add_argument(
        "-n", "--namespace", metavar="NAMESPACE", help="only the workloads of this namespace"
    )
    parser.add_argument(
        "-l",
        "--selector",
        type=_selector,
        metavar="SELECTOR",
        help="only workloads and pods with these labels, as in kubectl: app=web,tier!=db",
    )
    parser.add_argument(
        "--all", action="store_true", help="list everything; long sections are cut otherwise"
    )
    output.add_to(parser)
    parser.set_defaults(run=run)


def _selector(text: str) -> Selector:
    try:
        return label_selectors.parse(text)
    except SelectorError as exc:
        raise argparse.ArgumentTypeError(str(exc)) from exc


def _namespace(arguments: argparse.Namespace) -> str:
    """The namespace to scan; without -n all of them, whatever the context says."""
    return "" if arguments.all_namespaces else arguments.namespace or ""


def run(arguments: argparse.Namespace) -> int:
    """Collect, judge and print; the exit code is the worst severity."""
    given = [*arguments.files, *arguments.filename, *(getattr(arguments, "--cluster") or ())]
    kubeconfig = getattr(arguments, "--kubeconfig")
    if given and (kubeconfig or arguments.context):
        raise ConfigError(["scan: give manifests, or --kubeconfig and --context, not both"])
    # The command line names the cluster; the file only says how to judge pods.
    setattr(arguments, "--cluster", None)
    setattr(arguments, "--kubeconfig", None)
    config = flags.effective_config(arguments)
    live = kubeconfig or arguments.context
    paths = given or ([] if live else [*config.cluster_files])
    server = (
        None if paths else sources.api_server(kubeconfig or config.kubeconfig, arguments.context)
    )
    if not paths and server is None:
        raise sources.no_cluster("PATH")
    selection = Selection(_namespace(arguments), arguments.selector)
    found = _scan(config, paths, server, selection)
    output.show(
        scan_output.document(found),
        arguments.output,
        lambda on: "".join(scan_output.tables_of(found, on, every=arguments.all)),
    )
    return problems.exit_code(found.severities())


def _scan(
    config: Config, paths: list[str], server: ApiServer | None, selection: Selection
) -> Report:
    progress = Progress(sys.stderr)
    profiles = Profiles(config)
    inventory, cache = Inventory(profiles.settings, selection), ClusterCache()
    missing: dict[str, str] = {}
    try:
        if server is not None:
            missing = asyncio.run(_list(server, inventory, cache, progress))
        else:
            progress.begin("reading manifests")
            _read(paths, inventory, cache, progress.advance)
        progress.begin("judging pods", len(inventory.waiting))
        return report.build(
            inventory,
            # Without any claims in the input, do not report claims as missing.
            cache.snapshot(
                pods="pods" not in missing,
                volumes=len(cache.claims) > 0 and _STORAGE.isdisjoint(missing),
            ),
            cache.classes.objects,
            profile_of=profiles.of,
            schedulers=frozenset(each.scheduler_name for each in config.profiles),
            compile_settings=config.compile,
            missing=missing,
            step=progress.advance,
        )
    finally:
        progress.end()


def _read(
    paths: list[str], inventory: Inventory, cache: ClusterCache, step: Callable[[], None]
) -> None:
    """Read the manifests; the last of several objects with one name wins."""
    stores = dict(zip(manifests.KINDS, (store for _, store in cache.stores()), strict=True))
    kinds = manifests.KINDS.keys() | objects.SHAPES.keys()
    for path in paths:
        for file, kind, item in manifests.items(path, kinds, sources.tell):
            if kind in stores:
                key, obj = manifests.decoded_for_cache(file, kind, item)
                stores[kind].put(key, obj)
            if kind in objects.SHAPES:
                inventory.add(kind, manifests.decoded(file, kind, item, objects.SHAPES[kind]))
            step()


async def _list(
    server: ApiServer, inventory: Inventory, cache: ClusterCache, progress: Progress
) -> dict[str, str]:
    """List a live cluster; returns the forbidden resources with the server's message."""
    missing: dict[str, str] = {}
    stores = {resource.path: (resource, store) for resource, store in cache.stores()}
    kinds = {resource.path: kind for kind, resource in objects.RESOURCES.items()}
    listed: dict[str, Resource[objects.Scanned]] = {
        path: resource for path, (resource, _) in stores.items()
    } | {resource.path: resource for resource in objects.RESOURCES.values()}
    async with server.connect() as connection:
        for path, resource in listed.items():
            progress.begin(resource.name)
            try:
                async for body, page in listing.pages(connection, resource):
                    items = page.items or []
                    progress.advance(len(items), page.metadata.remaining_item_count)
                    if path in stores:
                        seen, store = stores[path]
                        for obj in seen.decode_page(body).items or ():
                            store.put(key_of(obj.metadata), obj)
                    for item in items if path in kinds else ():
                        inventory.add(kinds[path], item)
            except ApiForbiddenError as exc:
                missing[resource.name] = exc.message
    return missing
