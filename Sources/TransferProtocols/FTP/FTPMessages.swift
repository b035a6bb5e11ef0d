import DisplayText
package import TransferModel
import WireOperations

/// The parameters of an upload over FTP.
package struct FTPUploadPlan: Sendable, Hashable {
    /// The server's name, for what people are told.
    package var host: String
    /// The final path at the server.
    package var path: RawPath
    package var subject: UploadSubject
    package var facts: HostFacts
    package var resume: FTPResumePoint?

    package init(
        host: String, path: RawPath, subject: UploadSubject, facts: HostFacts = HostFacts(),
        resume: FTPResumePoint? = nil
    ) {
        self.host = host
        self.path = path
        self.subject = subject
        self.facts = facts
        self.resume = resume
    }
}

/// The parameters of a download over FTP. Its resume point is that of every download; `MDTM` stands for the version.
package struct FTPDownloadPlan: Sendable, Hashable {
    package var host: String
    package var path: RawPath
    /// The final name, when a person gave one.
    package var name: RawPath?
    package var verify: VerificationWish?
    /// A digest that a person gave.
    package var expects: TransferDigest?
    package var facts: HostFacts
    /// Resume point of an earlier attempt, its offset cut to what the temporary file really has.
    package var resume: GetResumePoint?
    /// When the file is another one than the one that was begun.
    package var ifChanged = ChangedSourcePolicy.restart
    /// Bytes count as they come, whatever version they are of.
    package var takesAsItComes: Bool

    /// The server's own digest is asked for: it must be, or it can be had for a question.
    var asksDigest: Bool { expects == nil && (verify == .digest || verify == nil && facts.tellsDigests != false) }

    package init(
        host: String, path: RawPath, name: RawPath? = nil, verify: VerificationWish? = nil,
        expects: TransferDigest? = nil, facts: HostFacts = HostFacts(), resume: GetResumePoint? = nil
    ) {
        self.host = host
        self.path = path
        self.name = name
        self.verify = verify
        takesAsItComes = verify == VerificationWish.none
        self.expects = expects
        self.facts = facts
        self.resume = resume
    }
}

/// Resume point of an upload over FTP: the name under which its bytes are gathered.
package struct FTPResumePoint: RenamingResumePoint {
    package static var kind: String { ProtocolFacts.ftp.id }

    /// The temporary file beside the target; the target itself on a server that cannot rename.
    package var temporary: RawPath
    /// Counts the temporary files of this task: a new beginning takes a new one, because the old may still be written to.
    package var generation: Int
    /// Bytes of the temporary file that the server was last seen to have.
    package var seen: Int64 = 0
    /// All bytes are there and the rename may have been asked for.
    package var publishing = false
    /// The old file at the target may have been removed to make way for the rename: what is gathered here is all that is left then.
    package var removesOld: Bool?
    /// The version that the rename was to name.
    package var version: NamedVersion?
    /// The server told this digest of the temporary file before its rename, and it is the source's.
    package var compared: TransferDigest?
    /// Under the final name: why what is there is ours.
    package var owned: OwnedName?
    /// Under the final name: the length of the longest version of the source that was sent there. A longer file is somebody else's. `nil`: a
    /// point of an older engine, or none.
    package var longest: Int64?
    package var vanished: Int?
    /// Under the final name: another file may still stand there, so nothing is added to it, nor is it taken for whole. Whole files that were
    /// sent since without an answer.
    package var unanswered: Int?
    /// Times in a row that the server would not rename the temporary file, which it has whole.
    package var refusedRenames: Int?

    package init(temporary: RawPath, generation: Int = 1) {
        self.temporary = temporary
        self.generation = generation
    }

    package mutating func disclaim() { publishing = false }

    /// Returns true when a file of that length under the final name may be what was sent there: that is not shorter than the server once had.
    func mayBe(_ size: Int64) -> Bool {
        size >= seen && owned?.covers(size, confirmed: seen, longest: longest) == true
    }

    package var isPlausible: Bool {
        ResumeBounds.lengths.contains(seen) && ResumeBounds.generations.contains(generation) && !temporary.bytes.isEmpty
            && ResumeBounds.counts.contains(vanished ?? 0) && ResumeBounds.lengths.contains(longest ?? 0)
            && ResumeBounds.counts.contains(refusedRenames ?? 0) && ResumeBounds.counts.contains(unanswered ?? 0)
            && version?.isPlausible ?? true && owned?.isPlausible ?? true
    }
}

/// The exchanges of both directions.
enum FTPMessages {
    /// `NAME` in `folder/NAME` becomes `.NAME.TOKEN8.martlet-part`, with the generation after the token from the second on.
    static func temporary(_ path: RawPath, token: String, generation: Int) -> RawPath {
        TemporaryName.beside(path, token: token, generation: generation)
    }

    /// Gives the temporary file its time and its name. The time comes first and may be refused.
    static func publish(_ temporary: RawPath, as path: RawPath, modified: Int64, removesOld: Bool) -> Exchange {
        var commands: [[UInt8]] = []
        if let time = FTPTime.text(seconds: modified) { commands.append(command("*MFMT \(time) ", temporary)) }
        if temporary != path {
            if removesOld { commands.append(command("*DELE ", path)) }
            commands += [command("RNFR ", temporary), command("RNTO ", path)]
        }
        return .ftp(.commands(commands))
    }

    static func rename(_ path: RawPath, to target: RawPath) -> Exchange {
        .ftp(.commands([command("RNFR ", path), command("RNTO ", target)]))
    }

    static func remove(_ path: RawPath) -> Exchange { .ftp(.commands([command("*DELE ", path)])) }

    /// ProFTPD's mod_digest and others: the reply's text holds the digest.
    static func askDigest(_ path: RawPath) -> Exchange { .ftp(.commands([command("XSHA256 ", path)])) }

    /// As the draft `HASH` asks for it (draft-bryan-ftpext-hash), for servers that do not know the other one.
    static func askHash(_ path: RawPath) -> Exchange {
        .ftp(.commands([Array("*OPTS HASH SHA-256".utf8), command("HASH ", path)]))
    }

    /// The SHA-256 in the text of a reply, if there is one.
    static func digest(in text: String) -> TransferDigest? {
        text.split { !$0.isHexDigit }.first { $0.utf8.count == 64 }.map {
            TransferDigest(algorithm: "sha-256", value: $0.lowercased())
        }
    }

    static func command(_ verb: String, _ path: RawPath) -> [UInt8] { Array(verb.utf8) + path.bytes }
}

/// Times as FTP writes them: `YYYYMMDDHHMMSS`, UTC (RFC 3659 section 2.3).
enum FTPTime {
    static func text(_ time: Timestamp) -> String {
        // 2026-11-21T12:41:07.250Z without its marks and its fraction.
        String(peer: time.description.utf8.filter { (48...57).contains($0) }.prefix(14))
    }

    /// Reads a time of `MLSD` or `MDTM`, a fraction of a second left out; `nil` for what is no time.
    static func parse(_ text: String) -> Timestamp? {
        let digits = Array(text.prefix { $0 != "." })
        guard digits.count == 14, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        func part(_ range: Range<Int>) -> String { String(digits[range]) }
        return Timestamp(
            "\(part(0..<4))-\(part(4..<6))-\(part(6..<8))T\(part(8..<10)):\(part(10..<12)):\(part(12..<14))Z")
    }

    /// `nil` outside of the years that have four digits.
    static func text(seconds: Int64) -> String? {
        (0..<253_402_300_800).contains(seconds) ? text(Timestamp(seconds: seconds)) : nil
    }
}
