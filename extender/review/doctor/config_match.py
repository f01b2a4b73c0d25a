"""Compares our configuration with the scheduler's: profiles, TLS, ports and placement."""

from collections.abc import Iterator, Mapping, Sequence

from extender.config.schema import Config
from extender.plugins import DEFAULT_WEIGHTS
from extender.review.doctor import profiles, urls
from extender.review.doctor.problems import Problem
from extender.review.doctor.scheduler import Extender, SchedulerConfiguration
from extender.review.doctor.setup import ExtenderPod


def weights_for(ours: Config | None, scheduler_name: str) -> Mapping[str, int]:
    """Our plugins for a scheduler name; without a configuration, those that we ship."""
    if ours is None:
        return {**DEFAULT_WEIGHTS, "PodTopologySpread": 0}
    if not ours.profiles:
        return DEFAULT_WEIGHTS
    found = (each.weights for each in ours.profiles if each.scheduler_name == scheduler_name)
    return next(found, {})


def check_ours(origin: str, ours: Config) -> Iterator[Problem]:
    """Problems of our configuration alone."""
    if ours.no_execute == "join":
        yield Problem(
            "warning",
            "no-execute-join",
            f"{origin}: noExecute",
            "pods whose annotation alone tolerates a NoExecute taint are placed, and then evicted:"
            " controller manager and kubelet read spec.tolerations only",
            "set it to narrow",
        )
    if not ours.nudges_per_second:
        yield Problem(
            "warning",
            "nudge-off",
            f"{origin}: nudge.perSecond",
            "a pod that is refused from a view a moment too old is not asked about again before"
            " the next event, and Leeway does not wake it",
            "set it to 10",
        )


def check(origin: str, ours: Config, theirs: SchedulerConfiguration) -> Iterator[Problem]:
    """Problems of our configuration together with the scheduler's."""
    yield from _profiles(origin, ours, theirs)
    sample = any(profiles.sampled(each, theirs) for each in theirs.all_profiles())
    if sample and ours.reasons == "detailed":
        yield Problem(
            "warning",
            "reasons-redacted",
            f"{origin}: reasons",
            "below 100 % of the nodes the counts of each reason change from call to call, and a"
            " changed text wakes the refused pod again",
            "set it to redacted, or percentageOfNodesToScore to 100",
        )


def check_refusals(origin: str, ours: Config, is_followed: bool) -> Iterator[Problem]:
    """Whether an extender behind ours needs to know whom we refused."""
    if is_followed and ours.refusals != "always":
        yield Problem(
            "warning",
            "refusals",
            f"{origin}: refusals",
            "another extender is called after Leeway: when it refuses the rest, the pod's event"
            " does not say why Leeway refused its nodes",
            "set it to always",
        )


def _profiles(origin: str, ours: Config, theirs: SchedulerConfiguration) -> Iterator[Problem]:
    names = {each.scheduler_name for each in theirs.all_profiles()}
    for index, profile in enumerate(ours.profiles):
        if profile.scheduler_name not in names:
            yield Problem(
                "warning",
                "profile-unused",
                f"{origin}: profiles[{index}].schedulerName",
                f"no profile of the scheduler is called {profile.scheduler_name!r}, only"
                f" {', '.join(sorted(names))}",
                "give both the same name",
            )


def check_listener(origin: str, ours: Config, extender: Extender, where: str) -> Iterator[Problem]:
    """Check that the scheduler calls our listener with the right protocol and port."""
    url, files = urls.parse(extender.url_prefix), ours.scheduler_tls
    if url.scheme and (url.scheme == "https") != (files is not None):
        speaks = "TLS" if files else "plain HTTP"
        yield Problem(
            "error",
            "tls-agreement",
            f"{where}.urlPrefix",
            f"Leeway's scheduler listener speaks {speaks} ({origin}: tls.scheduler), so every call"
            " fails",
            "use https:// exactly where Leeway has a certificate",
        )
    tls = extender.tls_config
    shows = tls is not None and bool(tls.cert_file or tls.cert_data)
    if url.scheme == "https" and files and files.client_ca_file and not shows:
        yield Problem(
            "error",
            "tls-agreement",
            f"{where}.tlsConfig.certFile",
            f"Leeway answers only who shows a client certificate ({origin}:"
            " tls.scheduler.clientCAFile), so every call fails",
            "give certFile and keyFile",
        )
    listener = ours.listen.scheduler
    if url.is_loopback and listener.port and url.port != listener.port:
        yield Problem(
            "error",
            "port",
            f"{where}.urlPrefix",
            f"Leeway listens on port {listener.port} ({origin}: listen.scheduler), nobody on"
            f" {url.port}",
            f"call port {listener.port}",
        )


def check_placement(
    pods: Sequence[ExtenderPod], theirs: SchedulerConfiguration
) -> Iterator[Problem]:
    """Check that Leeway's own pod does not need Leeway to be scheduled."""
    names = {each.scheduler_name for each in theirs.all_profiles()}
    for pod in pods:
        if pod.scheduler_name in names:
            yield Problem(
                "error",
                "self-scheduled",
                f"{pod.origin}: schedulerName",
                f"Leeway's own pod is placed by {pod.scheduler_name!r}, which asks Leeway: when"
                " none runs, none can start",
                "let a scheduler without Leeway place it",
            )
