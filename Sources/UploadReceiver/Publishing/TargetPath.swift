import DisplayText
import TransferModel

/// The path that a request's target names: folders and a file below the served folder, as bytes.
///
/// The target is percent-decoded one component at a time, so an encoded slash never becomes a separator. A target that
/// could leave the folder (`..`, NUL, an encoded slash) or that names our own hidden folder is a problem, not a path.
struct TargetPath: Equatable, Sendable {
    /// The names from the served folder down; empty for the served folder itself.
    let components: [[UInt8]]
    /// True when the target ended in a slash (or was the served folder itself).
    let isFolder: Bool

    init(components: [[UInt8]], isFolder: Bool = false) {
        self.components = components
        self.isFolder = isFolder || components.isEmpty
    }

    /// Reads the target of a request line, in origin form (`/a/b`) or absolute form (`http://host/a/b`), without query.
    init(target: some Collection<UInt8>) throws(TargetProblem) {
        let path = Self.originForm(Array(target))
        guard path.first == slash else { throw .notAPath }
        var components: [[UInt8]] = []
        for coded in path.split(separator: slash) {
            components.append(try Self.decode(coded))
        }
        self.init(components: components, isFolder: path.last == slash)
        try check(components)
    }

    /// The path of a file below this folder. The names come from a client and are checked like a target's.
    func appending(_ names: [[UInt8]]) throws(TargetProblem) -> TargetPath {
        let path = TargetPath(components: components + names)
        try path.check(names)
        return path
    }

    /// Returns true when a name in the served folder is one of our own hidden folders, in any case: some file systems know none.
    static func isReserved(_ name: [UInt8]) -> Bool {
        let name = String(peer: name).lowercased()
        return name == IncomingFolder.name || name == UploadID.folderName
    }

    private func check(_ names: [[UInt8]]) throws(TargetProblem) {
        for name in names {
            if name == [dot] || name == [dot, dot] { throw .leavesTheFolder }
            if name.isEmpty || name.contains(0) || name.contains(slash) { throw .forbiddenByte }
            if name.count > Self.longestName { throw .nameTooLong }
        }
        if components.count > Self.deepest { throw .tooDeep }
        if components.first.map(Self.isReserved) == true { throw .reserved }
    }

    /// The path for a person, made harmless; `/` for the served folder itself.
    var displayed: String {
        components.isEmpty ? "/" : SafeText(Array(components.joined(separator: [slash]))).string
    }

    /// A name as it stands in a URL: everything but RFC 3986's unreserved characters as `%NN`.
    static func percentEncoded(_ name: some Sequence<UInt8>) -> String { PercentEncoding.encode(Array(name)) }

    /// The most names in a path, and so the most folders that one request makes.
    static let deepest = 100

    /// NAME_MAX of Linux's file systems.
    private static let longestName = 255

    /// A target without the scheme and the host that it may have.
    static func originForm(_ target: [UInt8]) -> ArraySlice<UInt8> {
        guard let rest = withoutScheme(target) else { return target[...] }
        return rest.firstIndex(of: slash).map { rest[$0...] } ?? [slash]
    }

    /// The host, and perhaps the port, of a target in absolute form; `nil` in any other form.
    static func authority(inTarget target: [UInt8]) -> String? {
        withoutScheme(target).map { String(peer: $0.prefix { $0 != slash }) }
    }

    private static func withoutScheme(_ target: [UInt8]) -> ArraySlice<UInt8>? {
        for scheme in ["http://", "https://"] where target.starts(with: scheme.utf8) {
            return target.dropFirst(scheme.utf8.count)
        }
        return nil
    }

    /// One name with its escapes taken out.
    static func decode(_ coded: ArraySlice<UInt8>) throws(TargetProblem) -> [UInt8] {
        guard PercentEncoding.isWhole(coded) else { throw .badEscape }
        return PercentEncoding.decode(coded)
    }
}

/// The reasons for which a target is no path below the served folder.
enum TargetProblem: Error, Equatable {
    case notAPath
    case badEscape
    case forbiddenByte
    case leavesTheFolder
    case nameTooLong
    case tooDeep
    case reserved

    /// The answer to the client.
    var answer: Answer {
        switch self {
        case .notAPath: .problem(.badRequest, "the target is not a path")
        case .badEscape: .problem(.badRequest, "the path has a '%' that two hexadecimal digits do not follow")
        case .forbiddenByte: .problem(.badRequest, "a name is empty or has a NUL or a slash in it")
        case .leavesTheFolder: .problem(.badRequest, "'.' and '..' are not names")
        case .nameTooLong: .problem(.uriTooLong, "a name is longer than 255 bytes")
        case .tooDeep: .problem(.uriTooLong, "the path has more than \(TargetPath.deepest) names")
        case .reserved: .problem(.forbidden, "this folder belongs to the receiver")
        }
    }
}

private let slash = UInt8(ascii: "/")
private let dot = UInt8(ascii: ".")
