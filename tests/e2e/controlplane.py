"""A control plane on loopback: etcd, API server, controller manager, schedulers and Leeway.

Nothing plays a kubelet: nodes are created through the API with room and a Ready condition, and a
pod counts as placed when it has a node. TLS and RBAC are on, so Leeway and the schedulers run
with the rights that they are given and no others.
"""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

import yaml

from tests.builders import JSON
from tests.deploy import rendering
from tests.deploy.rendering import OVERLAYS
from tests.e2e import api, binaries, credentials
from tests.e2e.api import Api
from tests.e2e.credentials import ADMIN, CONTROLLER, LEEWAY, SCHEDULER, Credentials
from tests.e2e.objects import DEFAULT, EXTENDED, SCHEDULERS, WHOLE_NODES
from tests.e2e.processes import Process, free_port

ROOT = Path(__file__).parent.parent.parent
SCHEDULER_CONFIG = ROOT / "deploy" / "examples" / "scheduler-config.yaml"
RBAC = ROOT / "deploy" / "kustomize" / "base" / "rbac.yaml"

# Switched off because nothing here is a kubelet: they would taint every node as not ready.
_NO_ADMISSION = "ServiceAccount,TaintNodesByCondition"
_NO_CONTROLLERS = "*,-node-lifecycle-controller,-node-ipam-controller"


class Leeway(Process):
    """`leeway serve`, with mutual TLS on the scheduler's listener."""

    def __init__(
        self,
        plane: "ControlPlane",
        name: str,
        *flags: str,
        api_port: int | None = None,
        port: int | None = None,
        talkative: bool = True,
    ) -> None:
        self.port, self.ops_port = port or free_port(), free_port()
        kubeconfig = plane.credentials.kubeconfig(LEEWAY, api_port or plane.port, file=name)
        certificate, key = plane.credentials.server
        command: list[str | Path] = [
            Path(sys.executable).with_name("leeway"),
            "serve",
            f"--kubeconfig={kubeconfig}",
            f"--scheduler-listen=127.0.0.1:{self.port}",
            f"--ops-listen=127.0.0.1:{self.ops_port}",
            f"--tls-cert-file={certificate}",
            f"--tls-private-key-file={key}",
            f"--client-ca-file={plane.credentials.ca}",
            *(("-v",) if talkative else ()),
            *flags,
        ]
        super().__init__(
            name,
            command,
            log=plane.folder / f"{name}.log",
            is_ready=lambda: credentials.plainly_answers(self.ops_port, "/readyz"),
        )

    @property
    def url(self) -> str:
        """Where schedulers call."""
        return f"https://127.0.0.1:{self.port}"


class Controller(Process):
    """`leeway controller`: every one answers admission, the leader writes tolerations."""

    def __init__(
        self, plane: "ControlPlane", name: str, config: Path, *flags: str, port: int | None = None
    ) -> None:
        self.port, self.ops_port = port or free_port(), free_port()
        kubeconfig = plane.credentials.kubeconfig(CONTROLLER, plane.port, file=name)
        certificate, key = plane.credentials.server
        command: list[str | Path] = [
            Path(sys.executable).with_name("leeway"),
            "controller",
            f"--kubeconfig={kubeconfig}",
            f"--admission-listen=127.0.0.1:{self.port}",
            f"--ops-listen=127.0.0.1:{self.ops_port}",
            f"--admission-tls-cert-file={certificate}",
            f"--admission-tls-private-key-file={key}",
            f"--config={config}",
            "-v",
            *flags,
        ]
        super().__init__(
            name,
            command,
            log=plane.folder / f"{name}.log",
            is_ready=lambda: credentials.plainly_answers(self.ops_port, "/readyz"),
        )


class ControlPlane:
    """Everything that runs, on ports that stay the same over restarts."""

    def __init__(
        self,
        folder: Path,
        *,
        gates: Mapping[str, bool] | None = None,
        extender_url: str | None = None,
    ) -> None:
        self.folder = folder
        self.credentials = Credentials(folder)
        self.gates = ",".join(f"{name}={str(on).lower()}" for name, on in (gates or {}).items())
        self.port = free_port()
        self._binaries = binaries.obtain()
        self._extra: list[Process] = []
        self.etcd = self._etcd()
        self.apiserver = self._apiserver()
        self.controller_manager = self._controller_manager()
        self.leeway = Leeway(self, "leeway")
        self._extender_url = extender_url or self.leeway.url
        self.scheduler = self.new_scheduler(EXTENDED)
        self.whole_node_scheduler = self.new_scheduler(WHOLE_NODES, whole_nodes)
        # Only the stories of compile mode start it.
        self.default_scheduler = self._default_scheduler()

    @property
    def processes(self) -> list[Process]:
        """Everything, in the order in which it is started."""
        own = [self.apiserver, self.controller_manager, self.leeway, self.scheduler]
        others = [self.whole_node_scheduler, self.default_scheduler]
        return [self.etcd, *own, *others, *self._extra]

    def kubeconfig(self, user: str) -> Path:
        """A kubeconfig for this API server."""
        return self.credentials.kubeconfig(user, self.port)

    def connected(self, user: str = ADMIN) -> contextlib.AbstractAsyncContextManager[Api]:
        """A client of this API server."""
        token = self.credentials.tokens[user]
        return api.connected(f"https://127.0.0.1:{self.port}", token, str(self.credentials.ca))

    async def start(self) -> None:
        """Start what does not run; everything is of use when this returns."""
        await self.start_api()
        rest = (self.controller_manager, self.leeway, self.scheduler, self.whole_node_scheduler)
        await asyncio.gather(*map(self._up, rest))

    async def start_api(self) -> None:
        """Start the API server alone, with everybody's rights."""
        await self._up(self.etcd)
        await self._up(self.apiserver)
        async with self.connected() as admin:
            await api.eventually(lambda: admin.found("/api/v1/namespaces/kube-system"), 30)
            for path, body in _rbac():
                await admin.ensure(path, body)

    async def stop(self) -> None:
        """End everything, what was started last first."""
        for process in reversed(self.processes):
            await process.stop()

    async def _up(self, process: Process) -> None:
        if not process.running:
            process.launch()
        await process.ready()

    @contextlib.asynccontextmanager
    async def beside(self, *processes: Process) -> AsyncIterator[None]:
        """Run these as well for a while."""
        self._extra.extend(processes)
        try:
            for process in processes:
                await process.start()
            yield
        finally:
            for process in reversed(processes):
                await process.stop()

    def forget(self) -> None:
        """What ran beside is over, and its log is of no more interest."""
        self._extra.clear()

    def new_leeway(
        self, name: str, *flags: str, api_port: int | None = None, port: int | None = None
    ) -> Leeway:
        """Another Leeway, which may see the API server, and be called, at another port."""
        return Leeway(self, name, *flags, api_port=api_port, port=port)

    def new_scheduler(
        self,
        name: str,
        edit: Callable[[JSON], None] = lambda _config: None,
        *,
        url: str | None = None,
    ) -> Process:
        """A scheduler for pods of a schedulerName, with the configuration that we recommend."""
        config = recommended(name, url or self._extender_url, self)
        edit(config)
        file = self.folder / f"{name}.yaml"
        file.write_text(yaml.safe_dump(config), encoding="utf-8")
        return self._scheduler(name, f"--config={file}")

    def _default_scheduler(self) -> Process:
        """The scheduler as it comes: no extender, and nothing of a profile is changed."""
        kubeconfig = self.kubeconfig(SCHEDULER)
        return self._scheduler(DEFAULT, f"--kubeconfig={kubeconfig}", "--leader-elect=false")

    def _scheduler(self, name: str, *flags: str) -> Process:
        port = free_port()
        certificate, key = self.credentials.server
        kubeconfig = self.kubeconfig(SCHEDULER)
        return self._kubernetes(
            "kube-scheduler",
            port,
            "/healthz",
            *flags,
            f"--secure-port={port}",
            f"--tls-cert-file={certificate}",
            f"--tls-private-key-file={key}",
            f"--authentication-kubeconfig={kubeconfig}",
            f"--authorization-kubeconfig={kubeconfig}",
            f"--feature-gates={self.gates}",
            "--v=3",
            log=name,
        )

    def _etcd(self) -> Process:
        self.etcd_port, peer = free_port(), free_port()
        command: list[str | Path] = [
            self._binaries / "etcd",
            f"--data-dir={self.folder / 'etcd'}",
            f"--listen-client-urls=http://127.0.0.1:{self.etcd_port}",
            f"--advertise-client-urls=http://127.0.0.1:{self.etcd_port}",
            f"--listen-peer-urls=http://127.0.0.1:{peer}",
            f"--initial-advertise-peer-urls=http://127.0.0.1:{peer}",
            f"--initial-cluster=default=http://127.0.0.1:{peer}",
            "--unsafe-no-fsync",
            "--log-level=warn",
        ]
        return Process(
            "etcd",
            command,
            log=self.folder / "etcd.log",
            is_ready=lambda: credentials.plainly_answers(self.etcd_port, "/health"),
        )

    def _apiserver(self) -> Process:
        certificate, key = self.credentials.server
        account = self.credentials.service_account_key
        return self._kubernetes(
            "kube-apiserver",
            self.port,
            "/readyz",
            f"--etcd-servers=http://127.0.0.1:{self.etcd_port}",
            f"--secure-port={self.port}",
            f"--tls-cert-file={certificate}",
            f"--tls-private-key-file={key}",
            f"--client-ca-file={self.credentials.ca}",
            f"--requestheader-client-ca-file={self.credentials.ca}",
            "--requestheader-allowed-names=front-proxy",
            f"--token-auth-file={self.credentials.token_file}",
            "--authorization-mode=RBAC",
            f"--disable-admission-plugins={_NO_ADMISSION}",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={account}",
            f"--service-account-signing-key-file={account}",
            "--service-cluster-ip-range=10.0.0.0/24",
            # Watches end at once when it is asked to stop.
            "--shutdown-delay-duration=0s",
            f"--feature-gates={self.gates}",
        )

    def _controller_manager(self) -> Process:
        port = free_port()
        certificate, key = self.credentials.server
        return self._kubernetes(
            "kube-controller-manager",
            port,
            "/healthz",
            f"--kubeconfig={self.kubeconfig(ADMIN)}",
            f"--secure-port={port}",
            f"--tls-cert-file={certificate}",
            f"--tls-private-key-file={key}",
            f"--controllers={_NO_CONTROLLERS}",
            "--leader-elect=false",
            # How long a claim waits for a volume that was made for it: 15 s by default.
            "--pvclaimbinder-sync-period=2s",
            # By default taint-eviction deletes ten pods a second.
            "--kube-api-qps=400",
            "--kube-api-burst=800",
            f"--feature-gates={self.gates}",
        )

    def _kubernetes(
        self, program: str, port: int, health: str, *flags: str, log: str = ""
    ) -> Process:
        name = log or program
        return Process(
            name,
            [self._binaries / program, "--bind-address=127.0.0.1", *flags],
            log=self.folder / f"{name}.log",
            is_ready=lambda: self.credentials.answers(port, health),
        )


def recommended(name: str, url: str, plane: ControlPlane) -> JSON:
    """The configuration that we ship; only names, addresses and credentials are replaced."""
    config: JSON = yaml.safe_load(SCHEDULER_CONFIG.read_text(encoding="utf-8"))
    config["clientConnection"] = {"kubeconfig": str(plane.kubeconfig(SCHEDULER))}
    config["leaderElection"]["resourceName"] = name
    config["profiles"][0]["schedulerName"] = name
    extender = config["extenders"][0]
    extender["urlPrefix"] = url
    certificate, key = plane.credentials.client
    files = {"caFile": plane.credentials.ca, "certFile": certificate, "keyFile": key}
    extender["tlsConfig"] = {setting: str(file) for setting, file in files.items()}
    return config


def whole_nodes(config: JSON) -> None:
    """Send whole nodes instead of names."""
    config["extenders"][0]["nodeCacheCapable"] = False


def _rbac() -> list[tuple[str, JSON]]:
    """What Leeway and the schedulers may do."""
    group = "/apis/rbac.authorization.k8s.io/v1"
    lease = {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"]}
    led = [
        {**lease, "verbs": ["create"]},  # has no name yet
        {**lease, "verbs": ["get", "update"], "resourceNames": list(SCHEDULERS)},
    ]
    roles, bindings = f"{group}/clusterroles", f"{group}/clusterrolebindings"
    local = f"{group}/namespaces/kube-system"
    reader = "extension-apiserver-authentication-reader"
    return [
        (roles, {"metadata": {"name": "leeway"}, "rules": _watched()}),
        (bindings, _binding("leeway", "ClusterRole", "leeway", LEEWAY)),
        *(
            (bindings, _binding(f"extended:{role}", "ClusterRole", role, SCHEDULER))
            for role in ("system:kube-scheduler", "system:volume-scheduler")
        ),
        (f"{local}/roles", {"metadata": {"name": "extended:lease"}, "rules": led}),
        (f"{local}/rolebindings", _binding("extended:lease", "Role", "extended:lease", SCHEDULER)),
        (f"{local}/rolebindings", _binding("extended:reader", "Role", reader, SCHEDULER)),
        ("/api/v1/namespaces", {"metadata": {"name": "leeway"}}),
        *_compiling(),
    ]


def _compiling() -> list[tuple[str, JSON]]:
    """What the overlay of compile mode allows its service account: the name is all that counts."""
    group = "/apis/rbac.authorization.k8s.io/v1"
    folders = {
        "ClusterRole": f"{group}/clusterroles",
        "ClusterRoleBinding": f"{group}/clusterrolebindings",
        "Role": f"{group}/namespaces/leeway/roles",
        "RoleBinding": f"{group}/namespaces/leeway/rolebindings",
    }
    objects = rendering.kustomized(OVERLAYS / "compile")
    return [(folders[each["kind"]], each) for each in objects if each["kind"] in folders]


def _watched() -> list[JSON]:
    """The rules of the role that we ship."""
    documents = yaml.safe_load_all(RBAC.read_text(encoding="utf-8"))
    rules: list[JSON] = next(d["rules"] for d in documents if d["kind"] == "ClusterRole")
    return rules


def _binding(name: str, kind: str, role: str, user: str) -> JSON:
    group = "rbac.authorization.k8s.io"
    return {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": group, "kind": kind, "name": role},
        "subjects": [{"kind": "User", "apiGroup": group, "name": user}],
    }
