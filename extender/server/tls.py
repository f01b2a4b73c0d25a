"""TLS for a listener whose files are replaced while it runs.

A new SSLContext is built from the new files and put in place of the old one at the next
handshake; connections that stand are not touched. Changing a context in place would never
forget an old client CA.
"""

import logging
import ssl
from pathlib import Path

from extender.config.schema import TLSFiles
from extender.errors import ConfigError

log = logging.getLogger("leeway.tls")

Stamp = tuple[tuple[int, int, int], ...]


class ReloadingTLS:
    """The context that a listener starts with; every handshake gets the newest one."""

    def __init__(self, files: TLSFiles) -> None:
        self._files = files
        self._paths = [
            Path(file) for file in (files.cert_file, files.key_file, files.client_ca_file) if file
        ]
        try:
            self._stamp = self._read_stamp()
            self._current = _context(files)
            self.context = _context(files)
        except OSError as exc:  # ssl.SSLError is one
            raise ConfigError([f"TLS: {_sentence(exc, files)}"]) from exc
        self._complaint = ""  # about the newest files; said once
        self.context.sni_callback = self._use_current

    def reload_if_changed(self) -> bool:
        """Take up changed files; what cannot be loaded is logged, and the old ones stay."""
        try:
            stamp = self._read_stamp()
            if stamp == self._stamp:
                return False
            self._current = _context(self._files)
        except OSError as exc:
            # Half-written or mismatched for now: the next look tries again.
            if str(exc) != self._complaint:
                log.warning("TLS files cannot be loaded, the old ones stay: %s", exc)
            self._complaint = str(exc)
            return False
        self._stamp = stamp
        self._complaint = ""
        log.info("TLS files reloaded")
        return True

    def _use_current(
        self, connection: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext
    ) -> None:
        connection.context = self._current

    def _read_stamp(self) -> Stamp:
        stats = [path.stat() for path in self._paths]
        return tuple((stat.st_mtime_ns, stat.st_ino, stat.st_size) for stat in stats)


def _context(files: TLSFiles) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(files.cert_file, files.key_file, _no_passphrase)
    if files.client_ca_file:
        context.load_verify_locations(files.client_ca_file)
        context.verify_mode = ssl.CERT_REQUIRED
    # A resumed session would outlive the certificates it was made with.
    context.options |= ssl.OP_NO_TICKET
    context.num_tickets = 0
    return context


def _no_passphrase() -> str:
    """An encrypted key is a fault: without this OpenSSL would ask whoever is at the terminal."""
    return ""


def _culprit(files: TLSFiles) -> str:
    """Which of the files it is that cannot be loaded; OpenSSL does not say."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(
            files.cert_file, files.key_file, _no_passphrase
        )
    except ssl.SSLError:
        return f"{files.cert_file} with {files.key_file}"
    return str(files.client_ca_file)


def _sentence(exc: OSError, files: TLSFiles) -> str:
    if isinstance(exc, FileNotFoundError):
        return f"{exc.filename or files.cert_file} does not exist"
    if isinstance(exc, ssl.SSLError):
        return f"{_culprit(files)} cannot be used: {exc.reason or exc}"
    return str(exc)
