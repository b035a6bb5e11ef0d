/// A request that was broken off: where it began, and how many of its bytes were handed to the transport. Kept so that the
/// next attempt can tell a server that holds nothing from one behind a proxy that kept everything back.
package struct UploadCut: Codable, Hashable, Sendable {
    /// The offset in the upload at which the body began.
    package var offset: Int64
    /// Bytes of the body that left us; some of them may never have left this machine's buffers.
    package var sent: Int64

    package init(offset: Int64, sent: Int64) {
        self.offset = offset
        self.sent = sent
    }

    var isPlausible: Bool { ResumeBounds.lengths.contains(offset) && ResumeBounds.lengths.contains(sent) }

    /// A cut that loses more than this, with nothing of it at the server, is the work of something that buffers whole bodies:
    /// sockets on both sides hold less.
    static let suspicious: Int64 = 8 << 20

    /// Bytes that such a cut may cost from then on.
    static let remedy: Int64 = 16 << 20

    /// Nothing of what was sent is there, and it was enough to be worth a word.
    func isLost(at offset: Int64) -> Bool { offset == 0 && self.offset + sent > 1 << 20 }

    /// Said then.
    static let lossReason = "the server has nothing of what was sent"

    /// True when `offset`, asked after the cut, shows that bodies are held back as long as they are not whole.
    func showsBuffering(at offset: Int64) -> Bool { offset == self.offset && sent > Self.suspicious }
}
