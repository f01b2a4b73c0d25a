"""Which plugins judge a pod."""

from typing import Final

from extender import plugins
from extender.config.schema import Config
from extender.framework.interface import Profile
from extender.match.cel.cache import ProgramCache
from extender.metrics import OTHER_PROFILE
from extender.model.core_v1 import Pod

# What the API server writes where a pod does not say.
DEFAULT_SCHEDULER: Final = "default-scheduler"


class Profiles:
    """The configured profiles; without any, every scheduler name has all plugins.

    Extenders are global to a scheduler: pods of its other profiles reach us too, and are judged
    only by the annotation that kube-scheduler cannot read itself.
    """

    def __init__(self, config: Config, programs: ProgramCache | None = None) -> None:
        self.settings = settings = config.settings(programs)
        self._named = {
            profile.scheduler_name: plugins.profile(
                profile.scheduler_name, profile.weights, settings
            )
            for profile in config.profiles
        }
        self._rest = (
            plugins.foreign_profile(settings)
            if config.profiles
            else plugins.profile(OTHER_PROFILE, plugins.DEFAULT_WEIGHTS, settings)
        )
        self.configured = bool(config.profiles)

    def of(self, pod: Pod) -> Profile:
        """The profile that judges this pod."""
        return self._named.get(scheduler_name(pod), self._rest)


def scheduler_name(pod: Pod) -> str:
    """The scheduler that the pod asks for."""
    return (pod.spec.scheduler_name if pod.spec else "") or DEFAULT_SCHEDULER
