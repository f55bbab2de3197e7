"""No test reaches a network: only loopback may be connected to or looked up, here and in every Python child process.

tests/conftest.py runs this file and puts its folder on PYTHONPATH, where the interpreter finds it at start-up.
"""

import ipaddress
import sys


def _is_loopback(host: object) -> bool:
    if isinstance(host, bytes):
        host = host.decode("idna", "replace")
    if host in (None, "", "localhost"):
        return True
    try:
        return ipaddress.ip_address(str(host).split("%", maxsplit=1)[0]).is_loopback
    except ValueError:
        return False


def _guard(event: str, arguments: tuple) -> None:
    if event in ("socket.connect", "socket.sendto"):
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) and len(address) >= 2 else None  # a str is a unix socket
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = arguments[0]
    else:
        return
    if not _is_loopback(host):
        raise PermissionError(f"a test tried to reach {host!r}; tests stay on loopback")


sys.addaudithook(_guard)
