/// Certificates of the authorities to trust instead of the system's (PEM). Bytes and no name: libcurl would read a file on the loop, where
/// a pipe or a disk that does not answer would hold up everything else.
package struct Authorities: Sendable, Hashable {
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) { self.bytes = bytes }

    /// Nobody is trusted: for a file that cannot be read. libcurl refuses it as it refuses a file without certificates.
    package static let nobody = Authorities(bytes: Array("no certificate\n".utf8))

    /// Their number tells most of them apart; the bytes are compared only where it does not.
    package func hash(into hasher: inout Hasher) { hasher.combine(bytes.count) }
}
