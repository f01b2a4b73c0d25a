"""Checks the mutating webhooks of compile mode: how the API server calls the controller."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct, field

from extender.cluster.resources import Resource
from extender.errors import SelectorError
from extender.match import label_selectors
from extender.match.annotations import GUARDED_KEYS
from extender.model.core_v1 import LabelSelector
from extender.review.doctor.problems import Problem
from extender.review.scan.objects import ScannedMeta

KIND: Final = "MutatingWebhookConfiguration"
COMPILE: Final = "compile.leeway.scheduling"
STRIP: Final = "strip-guards.leeway.scheduling"
_PATH: Final = "/admission/mutate"
_TIMEOUT: Final = 2
_SYSTEM: Final = "kube-system"
_NAME_LABEL: Final = "kubernetes.io/metadata.name"
_INJECTION: Final = "cert-manager.io/inject-"
_MANIFEST: Final = "deploy/kustomize/overlays/compile/webhook.yaml"


class ServiceReference(Struct, frozen=True):
    """The Service that the API server calls."""

    namespace: str = ""
    path: str = ""


class ClientConfig(Struct, frozen=True, rename="camel"):
    """Whom the API server calls, and whom it trusts."""

    url: str = ""
    service: ServiceReference | None = None
    ca_bundle: str = ""


class MatchCondition(Struct, frozen=True):
    """A CEL expression that must hold before the API server calls."""

    expression: str = ""


class Webhook(Struct, frozen=True, rename="camel"):
    """One webhook, with the API server's defaults."""

    name: str = ""
    client_config: ClientConfig = field(default_factory=ClientConfig)
    failure_policy: str = "Fail"
    timeout_seconds: int = 10
    reinvocation_policy: str = "Never"
    namespace_selector: LabelSelector = field(default_factory=LabelSelector)
    match_conditions: tuple[MatchCondition, ...] = ()

    @property
    def role(self) -> str:
        """COMPILE or STRIP, whatever its name is; empty if it is not Leeway's."""
        if self.name in (COMPILE, STRIP):
            return self.name
        service = self.client_config.service
        path = service.path if service else urlsplit(self.client_config.url).path
        if not path.endswith(_PATH):
            return ""
        return STRIP if self.is_asked_about(GUARDED_KEYS) else COMPILE

    def is_asked_about(self, text: str) -> bool:
        """Whether a condition names this text."""
        return any(text in each.expression for each in self.match_conditions)


class WebhookConfiguration(Struct, frozen=True):
    """A MutatingWebhookConfiguration."""

    metadata: ScannedMeta = field(default_factory=ScannedMeta)
    webhooks: tuple[Webhook, ...] = ()

    @property
    def has_ours(self) -> bool:
        """Whether one of the webhooks is Leeway's."""
        return any(each.role for each in self.webhooks)

    @property
    def is_injected(self) -> bool:
        """Whether cert-manager writes the CA."""
        return any(name.startswith(_INJECTION) for name in self.metadata.annotations or {})


RESOURCE: Final = Resource(
    "mutatingwebhookconfigurations",
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
    WebhookConfiguration,
)


@dataclass(frozen=True, slots=True)
class FoundWebhooks:
    """A configuration with a webhook of Leeway, from a manifest or from a cluster."""

    origin: str
    config: WebhookConfiguration
    is_live: bool = False

    def hooks(self) -> Iterator[tuple[str, Webhook]]:
        """Leeway's webhooks with their places."""
        for index, hook in enumerate(self.config.webhooks):
            if hook.role:
                name = self.config.metadata.name
                yield f"{self.origin}: {KIND} {name}: webhooks[{index}]", hook

    def without_ca(self) -> Iterator[str]:
        """The places of webhooks that call a Service without a CA to trust."""
        for where, hook in self.hooks():
            # The certificate of a host outside of the cluster may be signed by a public CA.
            if hook.client_config.service is not None and not hook.client_config.ca_bundle:
                yield f"{where}.clientConfig.caBundle"


def check_present(where: str, found: Iterable[FoundWebhooks]) -> Iterator[Problem]:
    """Check that both webhooks exist."""
    roles = {hook.role for each in found for _, hook in each.hooks()}
    fix = f"apply both webhooks of {_MANIFEST}, or those of the chart"
    if COMPILE not in roles:
        yield Problem(
            "error",
            "webhook-missing",
            where,
            f"there is no {COMPILE}: each pod with rules waits for a patch of the controller, and"
            " nobody refuses a node-affinity annotation, which the scheduler then ignores",
            fix,
        )
    if STRIP not in roles:
        yield Problem(
            "error",
            "webhook-missing",
            where,
            f"there is no {STRIP}: a pod that is copied from a running one brings its guards"
            " along, and is placed on nodes that its rules do not tolerate",
            fix,
        )


def check(found: FoundWebhooks, prefix: str | None) -> Iterator[Problem]:
    """All problems of Leeway's webhooks; `prefix` is the controller's, if it is known."""
    for where, hook in found.hooks():
        yield from _timeout(where, hook)
        if hook.role == STRIP:
            yield from _strip_guards(where, hook, prefix)
        else:
            yield from _compile(where, hook, prefix)
            yield from _namespaces(where, hook)
    for where in found.without_ca() if found.is_live else ():
        injected = "look at cert-manager's cainjector and at the Certificate"
        yield Problem(
            "error",
            "webhook-ca",
            where,
            "it is empty, so the API server trusts no certificate of the controller: every call"
            " fails",
            injected if found.config.is_injected else "fill it in with `leeway certs --webhook`",
        )


def _timeout(where: str, hook: Webhook) -> Iterator[Problem]:
    if hook.timeout_seconds > _TIMEOUT:
        yield Problem(
            "warning",
            "webhook-timeout",
            f"{where}.timeoutSeconds",
            f"a controller that hangs delays each pod with rules by {hook.timeout_seconds} s",
            f"set it to {_TIMEOUT}",
        )


def _compile(where: str, hook: Webhook, prefix: str | None) -> Iterator[Problem]:
    if hook.failure_policy != "Ignore":
        yield Problem(
            "error",
            "webhook-failure-policy",
            f"{where}.failurePolicy",
            f"it is {hook.failure_policy}: while no replica answers, no pod with rules can be"
            " created",
            "set it to Ignore: the controller adds the tolerations later",
        )
    if hook.reinvocation_policy != "IfNeeded":
        yield Problem(
            "warning",
            "webhook-reinvocation",
            f"{where}.reinvocationPolicy",
            "rules that another webhook adds after this one wait for a patch of the controller",
            "set it to IfNeeded",
        )
    if not hook.match_conditions:
        yield Problem(
            "warning",
            "webhook-conditions",
            f"{where}.matchConditions",
            "they are missing, so the API server asks about every pod, also about those without"
            " rules",
            f"take those of {_MANIFEST}",
        )
    elif prefix is not None and not hook.is_asked_about(prefix):
        yield _other_prefix(where, prefix, "the webhook compiles no annotation")


def _strip_guards(where: str, hook: Webhook, prefix: str | None) -> Iterator[Problem]:
    if hook.failure_policy != "Fail":
        yield Problem(
            "error",
            "webhook-failure-policy",
            f"{where}.failurePolicy",
            f"it is {hook.failure_policy}: while no replica answers, a pod that is copied from a"
            " running one keeps its guards, and is placed on nodes that its rules do not tolerate",
            "set it to Fail: nobody else is asked about",
        )
    if not hook.match_conditions:
        yield Problem(
            "error",
            "webhook-conditions",
            f"{where}.matchConditions",
            "they are missing: while no replica answers, nobody can create any pod",
            f"take those of {_MANIFEST}",
        )
    elif prefix is not None and not hook.is_asked_about(prefix + GUARDED_KEYS):
        yield _other_prefix(where, prefix, "the webhook removes no copied guard")


def _other_prefix(where: str, prefix: str, so: str) -> Problem:
    return Problem(
        "error",
        "webhook-conditions",
        f"{where}.matchConditions",
        f"none of them names {prefix}, which is the controller's annotationPrefix: {so}",
        "use the same prefix in both",
    )


def _namespaces(where: str, hook: Webhook) -> Iterator[Problem]:
    service = hook.client_config.service
    for name in dict.fromkeys((_SYSTEM, service.namespace if service else "")):
        if name and not _leaves_out(hook.namespace_selector, name):
            yield Problem(
                "warning",
                "webhook-namespaces",
                f"{where}.namespaceSelector",
                f"it does not leave out {name}: pods that must start before the controller wait"
                " for the webhook",
                f"leave it out by the label {_NAME_LABEL}",
            )


def _leaves_out(selector: LabelSelector, namespace: str) -> bool:
    try:
        return not label_selectors.compile_selector(selector).matches({_NAME_LABEL: namespace})
    except SelectorError:  # the API server refuses it, too
        return False
