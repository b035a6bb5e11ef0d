// The module: the words that protocols and transports share. A protocol (TransferProtocols) asks for one operation at a server, the engine
// hands it to the transport (CurlTransport, SSHTransport) with credentials, limits, sources and sinks, and the answer goes back as it came.
// Values only, usable on any thread. Sizes and texts that a server tells over SFTP and FTP are bounded where these values are made, so that
// no other place has to; those of an HTTP header are read, and bounded, by the protocols.
// Start reading with `SFTPOperation` and `SFTPReply`, `FTPOperation` and `FTPAnswer`, `HTTPAnswer`.

/// Names one exchange at the transports, whichever carries it; chosen by the caller and never used twice.
package struct WireID: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}
