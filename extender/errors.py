"""Every exception of the program on one screen.

A refusal is a value (`framework.interface.Status`); an exception is a fault. The server turns
faults into HTTP answers in one place, the command line into exit codes in another.
"""

from typing import Final

# No answer, credentials that are not valid now, a time-out, too many requests.
_TEMPORARY: Final = frozenset({0, 401, 408, 429})


class LeewayError(Exception):
    """Base class of all faults that Leeway reports; the text is one sentence for a person."""


class BadRequestError(LeewayError):
    """The body is not a valid request: HTTP 400."""


class RequestTooLargeError(LeewayError):
    """The body is larger than `limits.requestBytes`, or its pod than any can be: HTTP 413."""


class UnsupportedEncodingError(LeewayError):
    """The body is compressed; it is refused without reading it: HTTP 415."""


class RequestTimeoutError(LeewayError):
    """The body did not arrive within `limits.bodyTimeout`: HTTP 408."""


class NoRoomError(LeewayError):
    """The bodies of others use up `limits.inFlightBytes`: HTTP 503."""


class NotSyncedError(LeewayError):
    """The cluster is not listed yet, so requests with node names cannot be answered."""


class NoClusterError(NotSyncedError):
    """No cluster source is configured, so the cluster will never be known."""


class PluginError(LeewayError):
    """A plugin raised an exception; the cause is chained, for the log only."""


class AllowanceError(LeewayError):
    """The CEL expressions of a request need more work than is allowed."""


class BudgetError(LeewayError):
    """The rules of a pod need more comparisons than one call may make."""


class DocumentError(LeewayError):
    """Text that is not valid JSON or YAML; the message has the line where it is known."""


class VersionError(LeewayError, ValueError):
    """Text that is not a semantic version; the message is that of the Go parser."""


class AnnotationError(LeewayError):
    """An annotation with rules that cannot be decoded; the message says which one and why."""

    def __init__(self, annotation: str, text: str, *, field: str = "", shown: str = "") -> None:
        self.annotation = annotation
        self.field = field  # what the text is about, such as [0].value; empty: the whole
        self.shown = shown  # its value, if that is short
        self.text = text
        self.problem = f"{field} {text}" if field else text
        super().__init__(f"{annotation} is invalid: {self.problem}")


class TooManyTermsError(LeewayError):
    """A node affinity that has too many terms when it is written without extended operators."""

    def __init__(self, count: int, limit: int) -> None:
        super().__init__(
            f"the terms of the pod and of its annotation come to {count} when each is joined with"
            f" each, and the limit is {limit}: use fewer terms in one of the two"
        )


class SelectorError(LeewayError):
    """A malformed label selector; the message is upstream's."""


class NotFoundError(LeewayError):
    """The pod or node that a person asked about does not exist."""


class CaseError(LeewayError):
    """A case of `leeway test` that cannot be judged, and the field that is the reason."""

    def __init__(self, path: str, what: str) -> None:
        super().__init__(what)
        self.path = path


class ManifestError(LeewayError):
    """A manifest that cannot be read; the message names the file and the object."""


class ApiError(LeewayError):
    """The API server cannot be reached or refuses; the caller retries with back-off."""

    def __init__(
        self, sentence: str, status: int = 0, body: bytes = b"", *, message: str = ""
    ) -> None:
        super().__init__(sentence)
        self.status = status  # of HTTP; 0: there was no answer
        self.body = body  # the beginning of the answer
        self.message = message or sentence  # for a person at a terminal, with the fix

    @property
    def is_temporary(self) -> bool:
        """Whether the same request may succeed later; else the answer is final."""
        return self.status in _TEMPORARY or self.status >= 500


class PodGoneError(LeewayError):
    """The pod that was to be changed is gone, or another one has its name by now."""


class ApiGoneError(ApiError):
    """The resource version to continue from is gone: list again."""


class ApiUnsupportedError(ApiError):
    """The API server is too old for this kind of request."""


class ApiForbiddenError(ApiError):
    """The API server authenticated us, but we lack the rights."""


class GarbageError(LeewayError):
    """The API server sent bytes that cannot be decoded: list again."""


class ConfigError(LeewayError):
    """An invalid configuration, with every problem and its path."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems
