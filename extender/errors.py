"""Every exception of the program on one screen.

A refusal is a value (`framework.interface.Status`); what is here is a fault.
The server has one door that turns faults into answers, the command line another.
"""


class LeewayError(Exception):
    """Anything that Leeway itself finds wrong; the text is one sentence for a person."""


class BadRequestError(LeewayError):
    """A body that is not what kube-scheduler sends: HTTP 400."""


class RequestTooLargeError(LeewayError):
    """A body over `limits.requestBytes`: HTTP 413."""


class UnsupportedEncodingError(LeewayError):
    """A compressed body, which is refused unread: HTTP 415."""


class RequestTimeoutError(LeewayError):
    """A body that did not arrive within `limits.bodyTimeout`: HTTP 408."""


class NotSyncedError(LeewayError):
    """The cluster is not known (yet), so nothing that names nodes can be judged."""


class NoClusterError(NotSyncedError):
    """There is no cluster source at all, and there never will be."""


class PluginError(LeewayError):
    """A plugin broke; the cause is chained and belongs into the log, not into an answer."""


class AllowanceError(LeewayError):
    """CEL expressions need more work than is allowed here and now."""


class BudgetError(LeewayError):
    """The rules of a pod take more comparisons than one call may do."""


class DocumentError(LeewayError):
    """Text that is not the JSON or YAML it should be, with the line where that is known."""


class VersionError(LeewayError, ValueError):
    """Text that is not a tolerant semantic version, in the words of the Go parser."""


class AnnotationError(LeewayError):
    """A carrier annotation that cannot be decoded; the text says which and why."""

    def __init__(self, annotation: str, problem: str) -> None:
        super().__init__(f"{annotation} is invalid: {problem}")
        self.problem = problem


class SelectorError(LeewayError):
    """A label selector that is malformed; the text is upstream's."""


class NotFoundError(LeewayError):
    """A pod or a node that was asked about and is not there."""


class ManifestError(LeewayError):
    """A cluster file that cannot be read; the text names the file and the object."""


class ApiError(LeewayError):
    """The API server cannot be reached, or refuses; tried again after a while."""


class ApiGoneError(ApiError):
    """The version that a list or a watch would go on from is gone: list anew."""


class ApiUnsupportedError(ApiError):
    """The API server is too old for what was asked of it."""


class ApiForbiddenError(ApiError):
    """The API server knows who asks, and does not let them."""


class GarbageError(LeewayError):
    """Bytes from the API server that make no sense: list anew."""


class ConfigError(LeewayError):
    """A configuration that does not hold, with every problem and its path."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems
