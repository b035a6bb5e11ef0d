import DisplayText
import MartletKit
import Wording

extension ProblemsPage {
    /// One reason, and the files that meet it, in whatever batch they are.
    struct Cause: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            /// `status`: of failures by HTTP, what the server answered; `server`: which one, where it may be to blame.
            case failed(TransferErrorCode, status: Int? = nil, host: String? = nil, server: String? = nil)
            /// It goes on when the person has done something; `code`: what makes a problem of it; `host`: the name that nobody
            /// knows: each is a problem of its own.
            case waits(WaitReason, code: TransferErrorCode? = nil, host: String? = nil)
            /// Its server has served nothing for a while; it is tried again by itself. Without a code it asked for a pause.
            case unserved(TransferErrorCode?, server: String)
        }

        /// One problem: what happened, and where. What is done against it at one server is nothing to another, and what lies in the way of an
        /// upload is another file than what lies in the way of a download.
        struct Key: Hashable, Sendable {
            let kind: Kind
            /// The server of uploads; of downloads, whose servers a batch does not say, that they are, and what is said of one. Empty: it is the
            /// same problem wherever it happens.
            let place: String

            init(_ kind: Kind, of batch: BatchSnapshot, _ finding: Finding) {
                self.kind = kind
                guard kind.isOfPlace else {
                    place = ""
                    return
                }
                guard batch.direction != .download else {
                    place = "<- \(finding.isOfFile ? "" : finding.what)"
                    return
                }
                // A login for one is typed here: by another scheme or port it is another server.
                let isBucket = TransferScheme(of: batch.destination)?.facts.urlNamesNoHost == true
                let origin = isBucket ? nil : (try? TransferURL(batch.destination, place: ""))?.origin
                place = origin ?? TransferScheme.server(of: batch.destination)
            }
        }

        let key: Key
        var kind: Kind { key.kind }
        /// The finding about one of its files.
        var finding: Finding
        var files: Int64
        /// When the last of them came to it; of a server that serves nothing: since when.
        var lastAt: Timestamp?
        /// The batches of the files; the one with most of them first.
        var batches: [Place]
        /// The server's words about that file, and what they answered.
        var said: String?
        var detail: String?
        /// The time of the next try at a server that is tried again by itself; `nil`: now, or soon.
        var retryAt: Timestamp?

        struct Place: Hashable, Sendable {
            var batch: BatchID
            var name: String
            var files: Int64
            /// The server of its destination; empty: a folder, as of downloads.
            var host = ""
            /// The destination, as far as it is no secret; of a download its folder.
            var url = ""
            var isDownload = false
            /// The number of files left of the batch.
            var left: Int64 = 0
            /// Its address may be wrong, and another batch can take its place.
            var isLost = false

            /// All that is left of the batch meets it.
            var isWhole: Bool { files == left }
        }

        /// The failure as the table of cures knows it.
        var error: TransferError? {
            switch kind {
            case .failed(let code, let status, _, _): TransferError(code, finding, httpStatus: status)
            case .waits(_, let code, _), .unserved(let code, _): code.map { TransferError($0, finding) }
            }
        }

        /// The cause in words short enough for one line.
        var summary: String {
            if let error, files > 1, error.finding.isOfFile { return error.code.words }
            return happening
        }

        /// The cause in words; what is said of one of several is said to be.
        var happening: String {
            if let error { return error.happening(of: files) }
            guard case .waits(let reason, _, _) = kind else { return finding.message }
            return said(of: reason)?.happening ?? "waits " + reason.clause(server: host)
        }

        /// The meaning of the cause, whatever the server said.
        var meaning: String? {
            if isAskedPause { return WaitCount.meaningOfPause }
            if isUnserved, error?.code == .http { return "It is there, and has trouble of its own, or too much to do." }
            return error?.code.cure(of: subject.scheme).meaning
        }

        /// The advice on the cause, in the words of `martlet why`.
        var remedy: Advice {
            if isAskedPause { return WaitCount.remedyOfPause }
            if isUnserved, let error { return error.remedyOfServer(for: subject) }
            if let error { return error.remedy(for: subject) }
            guard case .waits(let reason, _, _) = kind else { return "\(subject.retry)" }
            return said(of: reason)?.remedy(for: subject) ?? reason.remedy(for: subject)
        }

        /// The error behind a wait for a person whose reason does not say all: of keys one that is not known and one that has changed are two
        /// different dangers.
        private func said(of reason: WaitReason) -> TransferError? {
            Self.key(reason, finding) == nil
                ? nil : TransferError(reason == .hostKey ? .pinMismatch : .permissionDenied, finding)
        }

        /// A sentence on the things that are as safe as they were.
        var notLost: String {
            switch kind {
            case .failed(.sourceMissing, _, _, _):
                "Martlet only reads what you send: it never moves or deletes it. What had arrived of it stays there."
            case .failed(.destinationExists, _, _, _):
                "What is there was not touched, and neither was what was to go there."
            default: "Nothing was deleted. Each file goes on where it stood, if the server can."
            }
        }

        /// One protocol's advice is none for another's: where they differ it is that of the most files.
        private var subject: CureSubject {
            CureSubject(
                batch: batches.count == 1 ? batches[0].batch : nil, url: batches.first?.url,
                isDownload: batches.contains(where: \.isDownload))
        }

        /// The names of its batches, as many as a line may have room for.
        var names: String { batches.prefix(50).map(\.name).joined(separator: ", ") }

        var isUnserved: Bool { if case .unserved = kind { true } else { false } }

        /// A server, or several of which no more is told, serves nothing.
        var isForServer: Bool { if case .waits(.hostBackoff, nil, _) = kind { true } else { isUnserved } }

        /// The server that is tried again by itself, when all is meant that waits for it.
        var triedAgain: String? {
            switch kind {
            case .unserved(_, let server): server
            case .waits(_, _?, _?) where isWhole: host
            default: nil
            }
        }

        /// The server answers, and said how long to stay away.
        var isAskedPause: Bool { if case .unserved(nil, _) = kind { true } else { false } }

        private var host: String { batches.first.map { $0.host.isEmpty ? "the server" : $0.host } ?? "the server" }
    }
}

extension ProblemsPage.Cause {
    /// Sorts waits, which go on once their reason is gone, before failures; then the cause with most files first.
    static func comesBefore(_ first: Self, _ second: Self) -> Bool {
        if first.isWait != second.isWait { return first.isWait }
        return (second.files, first.name) < (first.files, second.name)
    }

    var isWait: Bool { if case .failed = kind { false } else { true } }

    /// Its name in JSON and its place, for an order that is always the same.
    private var name: String { "\(nameOfKind) \(key.place)" }

    private var nameOfKind: String {
        switch kind {
        case .failed(let code, let status, let host, let server):
            ([code.rawValue] + [status.map { "\($0)" }, host, server].compactMap(\.self)).joined(separator: " ")
        case .waits(let reason, let code, let host): (code?.rawValue ?? reason.rawValue) + (host.map { " \($0)" } ?? "")
        case .unserved(let code, let server): "\(code?.rawValue ?? "") \(server)"
        }
    }

    /// The finding about a name that nobody knows; `nil`: it is another failure.
    static func unknownHost(_ code: TransferErrorCode, _ finding: Finding) -> String? {
        code == .cannotFindHost && !finding.what.isEmpty ? finding.happening : nil
    }

    /// The finding about what waits for a person, each a problem of its own: a server's key, or what keeps one out beside a login; `nil`: the
    /// reason says all.
    static func key(_ reason: WaitReason, _ finding: Finding) -> String? {
        reason.needsPerson && !finding.what.isEmpty ? finding.what : nil
    }

    /// The server that may be to blame for a failure; `nil`: none. Buckets of S3 are none.
    static func server(of code: TransferErrorCode, _ url: String) -> String? {
        guard code.isOfServer, code != .cannotFindHost, TransferScheme(of: url)?.facts.urlNamesNoHost != true else {
            return nil
        }
        let server = TransferScheme.server(of: url)
        return server.isEmpty ? nil : server
    }

    /// As what it is shown: what waits for space looks again by itself.
    var state: RowState {
        switch kind {
        case .failed: .failed
        case .waits(let reason, _, _): reason.needsPerson ? .auth : .retry
        case .unserved: .retry
        }
    }

    /// The name of the cause where there is room for a few words.
    var title: String {
        switch kind {
        case .failed(let code, let status, let host, let server):
            status.map { (server.map { "\($0) " } ?? "") + "answered \($0)" } ?? host ?? code.words
        case .waits(let reason, let code, let host): host ?? code?.words ?? "waits for \(reason.words)"
        case .unserved(nil, let server): "\(server) asked for a pause"
        case .unserved(_, let server): "\(server) serves nothing"
        }
    }

    /// The filter that finds its files and no others; `nil`: there is none.
    /// - Parameter others: all causes there are.
    func filter(among others: [Self]) -> String? {
        words(among: others).flatMap { $0.isOfBatches ? filterOfBatches($0.text) : $0.text }
    }

    /// The same for its own batches alone, whatever meets it elsewhere by now.
    func filterOfItsBatches(among others: [Self]) -> String? {
        words(among: others).flatMap { filterOfBatches($0.text) }
    }

    /// The filter without the names of batches, and whether it needs them to mean no other files.
    private func words(among others: [Self]) -> (text: String, isOfBatches: Bool)? {
        switch kind {
        case .failed(.http, let status?, _, _): return words("@err err=http err=\(status)", among: others)
        case .failed(.http, nil, _, _):
            // Refused without a status, as FTP does: none of those that have one.
            let statuses = others.compactMap {
                if case .failed(.http, let status, _, _) = $0.kind { status } else { nil }
            }
            let words = ["@err err=http"] + Set(statuses).sorted().map { "!err=\($0)" }
            return self.words(words.joined(separator: " "), among: others)
        case .failed(_, _, let host?, _): return ("@err " + Self.said(host), false)
        case .failed(let code, _, nil, _): return words("@err err=\(code.rawValue)", among: others)
        // Also of those that are tried just now, or have not been yet.
        case .waits(_, _?, _?) where isWhole: return ("(@run | @wait | @retry)", true)
        case .waits(_, _?, let host?): return ("@retry " + Self.said(host), false)
        case .waits(_, let code?, nil): return ("@retry err=\(code.rawValue)", false)
        case .waits(let reason, nil, let key) where reason.needsPerson:
            let tried = "@auth why=\(reason.rawValue)"
            // One file tries a login or a key, and the others stand in line for it.
            if isWhole { return ("(\(tried) | @wait)", true) }
            // Others wait for the same, elsewhere or for another key.
            let isShared = others.contains { other in
                if case .waits(reason, nil, _) = other.kind { other.key != self.key } else { false }
            }
            return (tried, key != nil || isShared)
        case .waits(_, nil, _): return nil
        // Most of its files have had no try of their own.
        case .unserved: return nil
        }
    }

    /// A filter for what waits for room, and for nothing else of its batches; `nil`: it is another cause.
    var filterOfRoom: String? {
        guard case .waits(let reason, nil, _) = kind, !reason.needsPerson else { return nil }
        return filterOfBatches("why=\(reason.rawValue)")
    }

    /// All that is left of its batches meets it.
    var isWhole: Bool { batches.allSatisfy(\.isWhole) }

    /// Limited to the cause's own batches where another server is blamed for the same.
    private func words(_ text: String, among others: [Self]) -> (text: String, isOfBatches: Bool) {
        guard case .failed(let code, let status, _, _) = kind else { return (text, false) }
        let isShared = others.contains { other in
            guard case .failed(code, status, _, _) = other.kind else { return false }
            return other.key != key
        }
        return (text, isShared)
    }

    func filterOfBatches(_ text: String) -> String? {
        (try? TransferFilter(text + " @marked"))?.naming(batches.map { .batch($0.batch) }).description
    }

    /// A filter on what begins with this name, not on what ends with it: `nas.local` is another one than `local`.
    private static func said(_ text: String) -> String {
        let escaped = text.map { "\\^$.|?*+()[]{}/".contains($0) ? "\\\($0)" : "\($0)" }.joined()
        return "err:/^\(escaped)/"
    }

    /// A configured server may be behind it: a download names its addresses itself.
    var hasServer: Bool { batches.first?.host.isEmpty == false }

    /// The server has refused a login: neither a proxy did, nor is something missing here.
    var wantsLogin: Bool { if case .waits(.auth, _, nil) = kind { true } else { false } }

    /// The actions of one press against it, as the list says them: the likeliest first.
    var fixes: [Action] {
        let all = likelyFixes
        return hasServer ? all : all.filter { $0 != .server }
    }

    private var likelyFixes: [Action] {
        switch kind {
        case _ where isOfAddress: [.again, .retry]
        case .failed(let code, _, _, _): code.isOfServer ? [.retry, .server] : [.retry]
        case .waits(.auth, _, _): wantsLogin ? [.server] : [.retry]
        case .waits(_, let code, _): code == nil ? [.retry] : [.retry, .server]
        case .unserved(nil, _): [.server]
        case .unserved: [.retry, .server]
        }
    }

    /// Most likely its address is wrong. Those of downloads are not mended: they are others for each file.
    var isOfAddress: Bool {
        !isAskedPause && error?.code.isOfAddress == true && batches.first?.host.isEmpty == false
    }

    /// Something of that name is there: the next try meets it again, unless somebody says what to do about it.
    var isExisting: Bool { if case .failed(.destinationExists, _, _, _) = kind { true } else { false } }

    /// Keeps the server's words about one of them; the first that has something to tell.
    mutating func quote(_ said: String?, _ detail: String?) {
        if self.said == nil, self.detail == nil { (self.said, self.detail) = (said, detail) }
    }

    /// - Parameter place: of the batch that the last one was of, or of another than all before.
    mutating func add(_ place: Place, _ lastAt: Timestamp?) {
        ByteSum.add(place.files, to: &files)
        self.lastAt = [self.lastAt, lastAt].compactMap(\.self).max()
        if let last = batches.indices.last, batches[last].batch == place.batch {
            ByteSum.add(place.files, to: &batches[last].files)
        } else {
            batches.append(place)
        }
    }

    /// The batch with the most files first.
    mutating func sortBatches() { batches.sort { ($1.files, $0.batch) < ($0.files, $1.batch) } }
}

extension TransferErrorCode {
    /// A slip of the finger in the address may be to blame.
    var isOfAddress: Bool { self == .cannotFindHost || self == .cannotConnectToHost }

    /// Another address or another login may mend it.
    fileprivate var isOfServer: Bool {
        switch self {
        case .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .timedOut, .tooManyRedirects, .tlsFailure,
            .pinMismatch, .permissionDenied, .http, .badServerResponse, .gaveUp, .unsupported:
            true
        default: false
        }
    }
}

extension ProblemsPage.Cause.Kind {
    /// It is another problem at another place.
    var isOfPlace: Bool {
        switch self {
        case .failed(let code, _, _, _): !code.isSameEverywhere
        // A name that nobody knows is known to nobody by any scheme.
        case .waits(_, .cannotFindHost?, _): false
        case .waits(let reason, let code, _): code != nil || reason.needsPerson || reason == .remoteDiskSpace
        case .unserved: false
        }
    }
}

extension TransferErrorCode {
    /// It has to do with this machine or a person, or is told by the name of its server already.
    fileprivate var isSameEverywhere: Bool {
        switch self {
        case .sourceMissing, .sourceChanged, .sourceUnreadable, .diskFull, .notConnectedToInternet, .tooManyOpenFiles,
            .internal, .cancelledByUser, .sessionRemoved, .dependencyFailed, .cannotFindHost:
            true
        default: false
        }
    }
}
