"""Who is who on loopback: one CA, certificates, bearer tokens, kubeconfigs."""

import http.client
import secrets
import ssl
from pathlib import Path

import trustme
import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

ADMIN = "admin"
LEEWAY = "system:serviceaccount:kube-system:leeway"
SCHEDULER = "system:serviceaccount:kube-system:extended-scheduler"
CONTROLLER = "system:serviceaccount:leeway:leeway-controller"

_SERVICE_ACCOUNTS = "system:serviceaccounts,system:serviceaccounts:kube-system"
_GROUPS = {
    ADMIN: "system:masters",
    LEEWAY: _SERVICE_ACCOUNTS,
    SCHEDULER: _SERVICE_ACCOUNTS,
    CONTROLLER: "system:serviceaccounts,system:serviceaccounts:leeway",
}


class Credentials:
    """Files of one folder, made anew for each control plane."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        authority = trustme.CA()
        self.ca = folder / "ca.crt"
        authority.cert_pem.write_to_path(str(self.ca))
        self.server = self._pair("server", authority.issue_cert("127.0.0.1", "localhost"))
        self.client = self._pair("client", authority.issue_cert("kube-scheduler"))
        self.service_account_key = folder / "service-account.key"
        self.service_account_key.write_bytes(_rsa_key())
        self.tokens = {user: secrets.token_hex(16) for user in _GROUPS}
        self.token_file = folder / "tokens.csv"
        self.token_file.write_text(
            "".join(
                f'{token},{user},{user},"{_GROUPS[user]}"\n' for user, token in self.tokens.items()
            ),
            encoding="utf-8",
        )
        self.ssl = ssl.create_default_context(cafile=str(self.ca))

    def kubeconfig(self, user: str, port: int, *, file: str = "") -> Path:
        """A kubeconfig of a user for the API server at a port."""
        cluster = {"server": f"https://127.0.0.1:{port}", "certificate-authority": str(self.ca)}
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "loopback", "cluster": cluster}],
            "users": [{"name": user, "user": {"token": self.tokens[user]}}],
            "contexts": [{"name": "it", "context": {"cluster": "loopback", "user": user}}],
            "current-context": "it",
        }
        path = self.folder / f"{file or user.split(':')[-1]}.kubeconfig"
        path.write_text(yaml.safe_dump(content), encoding="utf-8")
        return path

    def answers(self, port: int, path: str) -> bool:
        """Whether a GET over TLS is answered with 200."""
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=5, context=self.ssl)
        try:
            connection.request("GET", path)
            return connection.getresponse().status == http.HTTPStatus.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _pair(self, name: str, certificate: trustme.LeafCert) -> tuple[Path, Path]:
        files = self.folder / f"{name}.crt", self.folder / f"{name}.key"
        certificate.cert_chain_pems[0].write_to_path(str(files[0]))
        certificate.private_key_pem.write_to_path(str(files[1]))
        return files


def _rsa_key() -> bytes:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )


def plainly_answers(port: int, path: str) -> bool:
    """Whether a GET without TLS is answered with 200."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
