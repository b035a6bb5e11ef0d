import Digests
import DisplayText
import LinuxSystem

/// The name of an upload in its URL and on the disk: 128 random bits. Who knows the URL may write there (if the token lets
/// them in), so it appears in no line of the journal.
struct UploadID: Hashable, Sendable {
    /// 32 lower-case hexadecimal digits.
    let text: String

    /// A new one that nobody can guess.
    init() throws(Errno) { text = Hexadecimal.encode(try System.randomBytes(Self.byteCount)) }

    /// The one that always stands for the same secret words, themselves hard to guess.
    init(standingFor words: String) {
        text = Hexadecimal.encode(DigestAlgorithm.sha256.digest(of: words.utf8).bytes.prefix(Self.byteCount))
    }

    init?(_ text: some StringProtocol) {
        guard text.utf8.count == Self.byteCount * 2, let bytes = Hexadecimal.decode(text),
            Hexadecimal.encode(bytes) == text
        else { return nil }
        self.text = String(text)
    }

    /// Reads the target of a request, or a URL in `Upload-Concat`; `nil` when it is not an upload's.
    init?(target: some Collection<UInt8>) {
        let path = TargetPath.originForm(Array(target))
        let prefix = Array("/\(Self.folderName)/".utf8)
        guard path.starts(with: prefix),
            let id = UploadID(String(peer: path.dropFirst(prefix.count)))
        else { return nil }
        self = id
    }

    /// The path of its URL.
    var target: String { "/\(Self.folderName)/\(text)" }

    /// The hidden folder inside the served one that holds unfinished uploads; no other request reaches below it.
    static let folderName = ".martlet-uploads"
    private static let byteCount = 16
}
