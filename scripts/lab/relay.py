"""Stands between Jupyter and gonb: answers questions about names, by gopls, and words errors for people. All else
passes as it is."""

import datetime
import hashlib
import hmac
import json
import os
import queue
import re
import socket
import threading
import uuid

import zmq

import hints

DELIMITER = b"<IDS|MSG>"
EXIT = re.compile(r"\s*(exit status \d+|signal: \w+)\s*")


class Wire:
    """Jupyter's messages: frames, of which the first after the delimiter signs the others."""

    def __init__(self, connection):
        self.key = connection["key"].encode()

    def read(self, frames):
        """Where the message begins in the frames, its header, its parent's header and its content."""
        at = frames.index(DELIMITER)
        return at, *(json.loads(frames[at + i]) for i in (2, 3, 5))

    def signed(self, parts):
        return [hmac.new(self.key, b"".join(parts), hashlib.sha256).hexdigest().encode() if self.key else b"", *parts]

    def changed(self, frames, at, content):
        """The message with another content."""
        parts = [*frames[at + 2:at + 5], json.dumps(content).encode()]
        return [*frames[:at + 1], *self.signed(parts), *frames[at + 6:]]

    def answer(self, kind, request, content, identities=()):
        """A message of our own, about a request: its frames."""
        header = {"msg_id": uuid.uuid4().hex, "username": "kernel", "session": request.get("session", ""),
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(), "msg_type": kind, "version": "5.3"}
        parts = [json.dumps(part).encode() for part in (header, request, {}, content)]
        return [*identities, DELIMITER, *self.signed(parts)]


def free_ports(number):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Front:
    """Takes the ports for requests and for what is shown, and gives gonb others. complete and inspect answer questions
    (None: nobody is asked)."""

    def __init__(self, connection_file, folder, project, names):
        with open(connection_file) as f:
            connection = json.load(f)
        self.wire, self.names, self.folder, self.project = Wire(connection), names, folder, project
        self.context = zmq.Context()
        shell, shown = free_ports(2)

        def made(kind, port, bind):
            s = self.context.socket(kind)
            s.setsockopt(zmq.LINGER, 1000)
            s.setsockopt(zmq.RCVHWM, 0)  # nothing may be lost
            s.setsockopt(zmq.SNDHWM, 0)
            (s.bind if bind else s.connect)(f"{connection['transport']}://{connection['ip']}:{port}")
            return s

        self.requests = made(zmq.ROUTER, connection["shell_port"], True)
        self.screen = made(zmq.PUB, connection["iopub_port"], True)
        self.gonb = made(zmq.DEALER, shell, False)
        self.shown = made(zmq.SUB, shown, False)
        self.shown.setsockopt(zmq.SUBSCRIBE, b"")
        self.file = str(folder / "connection.json")
        with open(os.open(self.file, os.O_CREAT | os.O_WRONLY, 0o600), "w") as f:
            json.dump({**connection, "shell_port": shell, "iopub_port": shown}, f)
        self.asked, self.codes, self.running, self.said = queue.Queue(), {}, {}, {}
        self.answers = self.context.socket(zmq.PULL)
        self.answers.bind("inproc://answers")
        threading.Thread(target=self.think, daemon=True).start()
        threading.Thread(target=self.pass_on, daemon=True).start()

    def think(self):
        """Answers questions about names, one after the other, and learns what cells declare."""
        out = self.context.socket(zmq.PUSH)
        out.connect("inproc://answers")
        while True:
            kind, header, identities, content = self.asked.get()
            if kind == "learn":
                self.names.remember(content)
                continue
            try:
                ask = self.names.complete if kind == "complete" else self.names.inspect
                said = ask(content["code"], content["cursor_pos"])
            except Exception as e:  # whatever gopls did: a question is never left without an answer
                said = {"status": "error", "ename": type(e).__name__, "evalue": str(e), "traceback": []}
            out.send_multipart([b"", *self.wire.answer(f"{kind}_reply", header, said, identities)])
            out.send_multipart([b"idle", json.dumps(header).encode()])

    def pass_on(self):
        poller = zmq.Poller()
        takes = {self.requests: self.request, self.gonb: self.reply, self.shown: self.show, self.answers: self.answered}
        for s in takes:
            poller.register(s, zmq.POLLIN)
        while True:
            for s, _ in poller.poll():
                takes[s](s.recv_multipart())

    def state(self, header, state):
        self.screen.send_multipart(self.wire.answer("status", header, {"execution_state": state}, [b"status"]))

    def request(self, frames):
        at, header, _, content = self.wire.read(frames)
        kind = header["msg_type"].removesuffix("_request")
        if kind in ("complete", "inspect") and self.names:
            self.state(header, "busy")
            self.asked.put((kind, header, frames[:at], content))
            return
        if kind == "execute":
            self.running[header["msg_id"]] = content["code"]
        self.gonb.send_multipart(frames)

    def answered(self, frames):
        if frames[0] == b"idle":
            self.state(json.loads(frames[1]), "idle")
        else:
            self.requests.send_multipart(frames[1:])

    def reply(self, frames):
        at, header, parent, content = self.wire.read(frames)
        if header["msg_type"] == "execute_reply":
            code = self.running.pop(parent["msg_id"], "")
            said = self.said.pop(parent["msg_id"], "")
            if content["status"] == "ok" and self.names:
                self.asked.put(("learn", None, None, code))
            if content["status"] == "error":
                frames = self.wire.changed(frames, at, self.worded(content, said))
        self.requests.send_multipart(frames)

    def show(self, frames):
        at, header, parent, content = self.wire.read(frames)
        kind, request = header["msg_type"], parent.get("msg_id")
        if kind == "execute_input":
            self.codes[content["execution_count"]] = content["code"]
        if kind == "stream" and content["name"] == "stderr":
            if EXIT.fullmatch(content["text"]):
                return  # the error that follows says so
            self.said[request] = (self.said.get(request, "") + content["text"])[-20000:]
        if kind == "error":
            frames = self.wire.changed(frames, at, self.worded(content, self.said.get(request, "")))
        self.screen.send_multipart(frames)

    def worded(self, content, said):
        lines = hints.explain(content["traceback"], said, self.codes, self.project, self.folder)
        return {**content, "traceback": lines, "evalue": re.sub("\x1b\\[[0-9;]*m", "", "\n".join(lines))}
