/// The plain facts of one protocol: all that everything but its machines needs to know of it. Its machines are in `TransferProtocols`, in
/// a folder of its own, where its `ProtocolDescriptor` adds them to these facts.
package final class ProtocolFacts: Sendable {
    /// All protocols. Messages name their schemes in this order; help and the screen name them from the last to the first, and the last
    /// plain one is their example (`TransferScheme.plain`): a new one goes before `sftp`, here and in `ProtocolDescriptor.all`.
    package static let all: [ProtocolFacts] = [
        .web, .put, .post, .form, .tus, .ietf, .dav, .nextcloud, .s3, .sftp, .ftp, .get,
    ]

    /// A scheme of its URLs.
    package struct Spelling: Sendable {
        let name: String
        /// `nil`: its URLs name no host.
        let port: Int?
        /// `http` or `https` for what goes over it by the URL's own host.
        let overHTTP: String?

        init(_ name: String, port: Int?, overHTTP: String? = nil) {
            (self.name, self.port, self.overHTTP) = (name, port, overHTTP)
        }

        /// A pair of schemes, without TLS and with it.
        static func overHTTP(_ plain: String, _ secure: String) -> [Spelling] {
            [Spelling(plain, port: 80, overHTTP: "http"), Spelling(secure, port: 443, overHTTP: "https")]
        }
    }

    /// The protocol that fetches a file from a URL of this one.
    package enum Downloads: Sendable, Equatable {
        /// Its URLs are for uploads alone. Where it has URLs of its own, its descriptor has a `download` all the same: what was sent is read back.
        case no
        /// It does so itself.
        case itself
        case by(ProtocolFacts)
    }

    /// The lists that its servers give of a folder.
    package struct Listing: Sendable {
        /// Only names that begin in one way are listed, where that is asked for.
        package var takesBeginning = false
        /// All names are told, as they are; else a list may leave some out, or write them in another way.
        package var isComplete = false
        /// Each name comes with a tag that proves its bytes.
        package var tagsProve = false
    }

    /// The name by which it is stored (resume points, the findings about a server): it never changes.
    package let id: String
    /// The name that is shown of its transfers.
    package let name: String
    /// The schemes that mean it; none: something else chooses it.
    package let spellings: [Spelling]
    /// By its URLs a person or the server still chooses how files are sent.
    package let isNegotiated: Bool
    package let downloads: Downloads
    /// `nil`: its servers list nothing, and a file that was sent is not looked for.
    package let lists: Listing?
    package let login: LoginKind
    /// Its URLs name a bucket of a service, and no host: all buckets of a service are one server.
    package let urlNamesNoHost: Bool
    /// Protocols whose name is shown in its place where their mark is in the URL. Its descriptor's `upload` makes their machines.
    package let variants: [ProtocolFacts]
    /// The part of a URL that means it among its scheme's protocols.
    package let mark: String?
    /// The reason, for a person, why a transfer that is cut off begins again; `nil`: not the protocol is to blame, but the server.
    package let beginsAgain: String?
    /// The digests of its parts that both ends have compared of a file that was sent, where none is of the whole file: said after "checked".
    package let comparedInParts: String?
    /// The comparison of its parts that a file which is still to be sent will get, where that is always the same.
    package let comparesParts: String?
    /// For a person: why a part may stand under the final name; `nil`: all of it gets the name at once.
    package let unfinished: String?

    init(
        _ id: String, name: String? = nil, schemes: [Spelling] = [], isNegotiated: Bool = false,
        downloads: Downloads = .no, lists: Listing? = nil, login: LoginKind = .fields, urlNamesNoHost: Bool = false,
        variants: [ProtocolFacts] = [], mark: String? = nil, beginsAgain: String? = nil,
        comparedInParts: String? = nil, comparesParts: String? = nil, unfinished: String? = nil
    ) {
        self.id = id
        self.name = name ?? id
        spellings = schemes
        self.isNegotiated = isNegotiated
        self.downloads = downloads
        self.lists = lists
        self.login = login
        self.urlNamesNoHost = urlNamesNoHost
        self.variants = variants
        self.mark = mark
        self.beginsAgain = beginsAgain
        self.comparedInParts = comparedInParts
        self.comparesParts = comparesParts
        self.unfinished = unfinished
    }

    /// The protocol that is shown under a name; `nil`: none is.
    package static func named(_ name: String?) -> ProtocolFacts? { all.first { $0.name == name && !$0.isNegotiated } }

    /// The name of the protocol that transfers a file at a URL whose scheme means this one.
    package func name(at url: String, of direction: TransferDirection) -> String {
        switch (direction, downloads) {
        case (.download, .by(let other)): other.name
        case (.download, _): name
        case (.upload, _): (variants.first { $0.mark.map(url.contains) == true } ?? self).name
        }
    }

    /// A server that is asked for it may speak others as well: which one it speaks is worth telling.
    package var isWorthNaming: Bool { login == .fields }
}

extension ProtocolFacts: Equatable {
    package static func == (one: ProtocolFacts, other: ProtocolFacts) -> Bool { one === other }
}
