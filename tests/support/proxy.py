"""A proxy on loopback that cuts connections, or lets them fall silent, at any packet."""

import socket
import threading
from contextlib import suppress


class Proxy:
    """Passes bytes on to a server; `fate(direction, data)` says "pass", "cut" (both ends closed) or "drop" (silence from then on).

    The direction is "to" or "from" the server. With "cut after", the data are passed on first.
    """

    def __init__(self, port):
        self._server, self.fate, self.cuts = port, lambda *_: "pass", 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._sockets = [self._listener]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        """End all connections."""
        for one in self._sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self):
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                try:
                    server = socket.create_connection(("127.0.0.1", self._server))
                except OSError:
                    client.close()
                    continue
                self._sockets += [client, server]
                state = {"silent": False}
                for direction, source, target in (("to", client, server), ("from", server, client)):
                    threading.Thread(target=self._pass, args=(direction, source, target, state), daemon=True).start()

    def _pass(self, direction, source, target, state):
        try:
            while data := source.recv(65536):
                fate = "drop" if state["silent"] else self.fate(direction, data)
                state["silent"] = state["silent"] or fate == "drop"
                if fate in {"pass", "cut after"}:
                    target.sendall(data)
                if fate.startswith("cut"):
                    return
        except OSError:
            pass
        finally:
            self.cuts += 1
            for one in (source, target):
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
                one.close()
