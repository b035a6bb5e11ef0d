"""An FTP server out of the package pyftpdlib: ftpd_py.py DIR PORT LOW-HIGH MAX [CERTIFICATE]."""
import sys

from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler
from pyftpdlib.servers import ThreadedFTPServer

dir_, port, passive, most = sys.argv[1:5]
handler = FTPHandler
if len(sys.argv) > 5:
    from pyftpdlib.handlers import TLS_FTPHandler as handler
    handler.certfile = sys.argv[5]
    handler.tls_control_required = handler.tls_data_required = True
handler.authorizer = DummyAuthorizer()
handler.authorizer.add_user("test", "test", dir_ + "/data", perm="elradfmwMT")
low, high = map(int, passive.split("-"))
handler.passive_ports = range(low, high + 1)
server = ThreadedFTPServer(("127.0.0.1", int(port)), handler)
server.max_cons = int(most)
server.serve_forever()
