"""A server that takes every PUT, but answers each only after a second: a queue before it stays long. Run as a thread."""
import asyncio
import threading
import time


class SlowServer:
    def __init__(self):
        self.requests = 0
        self.first = None  # when the first request of the current run came
        self._ready = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()
        self._ready.wait()

    def forget(self):
        """What comes from now on counts as the first."""
        self.first = None

    def _run(self):
        asyncio.run(self._serve())

    async def _serve(self):
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0)
        self.url = "http://127.0.0.1:%d/" % server.sockets[0].getsockname()[1]
        self._ready.set()
        await server.serve_forever()

    async def _connection(self, reader, writer):
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                if self.first is None:
                    self.first = time.monotonic()
                self.requests += 1
                length = 0
                for line in head.split(b"\r\n"):
                    if line.lower().startswith(b"content-length:"):
                        length = int(line.split(b":")[1])
                if b"100-continue" in head.lower():
                    writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                while length > 0 and (data := await reader.read(min(length, 65536))):
                    length -= len(data)
                await asyncio.sleep(1)
                writer.write(b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
