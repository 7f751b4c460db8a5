"""Servers that tests start on loopback: stand-ins for OpenSearch and for search APIs."""

import contextlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PASSWORD = "s3cret/pä:ss@word"


# OpenSearch ------------------------------------------------------------------------------------------------------


class BruteForce:
    """Interval rules by the book, in plain Python: minimal intervals, found by trying everything."""

    def __init__(self, documents):
        self.words = {number: source["words"].split() for number, source in documents.items()}

    def matching(self, rule):
        return [number for number, words in self.words.items() if self.intervals(rule, words)]

    def intervals(self, rule, words):
        """(start, end, gaps) of a rule in one document."""
        ((kind, body),) = rule.items()
        if kind == "any_of":
            return sorted({found for inner in body["intervals"] for found in self.intervals(inner, words)})
        if kind == "match":
            assert body == {"query": body["query"], "ordered": True, "max_gaps": 0}
            terms = body["query"].split()
            spans = range(len(words) - len(terms) + 1)
            return [(at, at + len(terms) - 1, 0) for at in spans if words[at : at + len(terms)] == terms]
        assert kind == "all_of" and body["ordered"] and len(body["intervals"]) == 2
        first, second = (self.intervals(inner, words) for inner in body["intervals"])
        pairs = [(a[0], b[1], b[0] - a[1] - 1) for a in first for b in second if b[0] > a[1]]
        minimal = [p for p in pairs if not any(o != p and p[0] <= o[0] and o[1] <= p[1] for o in pairs)]
        wanted = gap_filter(body.get("filter"))
        return [pair for pair in minimal if pair[2] <= body["max_gaps"] and wanted in (None, pair[2])]


def gap_filter(body):
    """The number in the one script that BagPack sends."""
    if body is None:
        return None
    (source,) = body["script"].values()
    return int(re.fullmatch(r"interval\.gaps == (\d+)", source).group(1))


class Node:
    """One node with indices that were filled before. `misbehave` may answer a request in its own way."""

    def __init__(self, executor=BruteForce, password=None):
        self.executor = executor
        self.password = password
        self.indices = {}
        self.ready = {}
        self.requests = []
        self.misbehave = lambda method, path: None

    def add(self, name, documents, **fields):
        """An index of documents: {"body": a text, "words": its tokens}."""
        properties = {"body": {"type": "text"}, **fields}
        self.indices[name] = {"mappings": {"properties": properties}, "documents": documents}
        self.ready.pop(name, None)

    def answer(self, method, path, headers, body):
        path = path.partition("?")[0]
        self.requests.append((method, path, body, dict(headers)))
        odd = self.misbehave(method, path)
        if odd is not None:
            return *odd, {}
        if self.password and headers.get("Authorization") != self.password:
            return 401, '{"error": {"reason": "missing authentication"}, "status": 401}', {}
        name, action = path.strip("/").split("/")
        if name not in self.indices:
            return 404, '{"error": {"reason": "no such index"}, "status": 404}', {}
        held = self.indices[name]
        if (method, action) == ("GET", "_mapping"):
            return 200, json.dumps({name: {"mappings": held["mappings"]}}), {}
        asked = json.loads(body)
        assert (method, action, asked["sort"]) == ("POST", "_search", [{"_doc": "asc"}])
        assert asked.keys() == {"size", "track_total_hits", "sort", "_source", "query"}
        assert asked["size"] <= 10_000
        ((field, rule),) = asked["query"]["intervals"].items()
        if name not in self.ready:
            self.ready[name] = self.executor(held["documents"])
        numbers = sorted(self.ready[name].matching(rule))[: asked["size"]] if field == "body" else []
        hits = [{"_id": str(n), "_source": {"body": held["documents"][n]["body"]}} for n in numbers]
        found = {"took": 1, "timed_out": False, "_shards": {"total": 1, "failed": 0}, "hits": {"hits": hits}}
        return 200, json.dumps(found), {}


# HTTP ------------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def serve(answer, context=None):
    """Serve on loopback, with TLS if there is a context; yields host:port.

    `answer(method, path, headers, body)` returns the status, the text and a dictionary of headers.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet, or every answer waits 40 ms for an acknowledgement
        disable_nagle_algorithm = True

        def handle_one(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, text, headers = answer(self.command, self.path, self.headers, body)
            data = text.encode()
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(data))}.items():
                self.send_header(name, value)
            with contextlib.suppress(OSError):
                self.end_headers()
                self.wfile.write(data)
                self.wfile.flush()

        do_GET = do_POST = handle_one  # noqa: N815

        def log_message(self, *details):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
