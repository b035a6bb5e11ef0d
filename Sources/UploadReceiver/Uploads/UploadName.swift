import Digests

/// `Upload-Metadata` of tus: keys and values in base64, separated by commas.
struct UploadMetadata: Equatable, Sendable {
    private var values: [String: [UInt8]] = [:]

    /// `nil` when a key is missing or there twice, or a value is no base64.
    init?(_ field: String?) {
        for member in (field ?? "").split(separator: ",") {
            let words = member.split(separator: " ")
            guard (1...2).contains(words.count), values[String(words[0])] == nil,
                let value = words.count == 1 ? [] : Base64.decode(words[1])
            else { return nil }
            values[String(words[0])] = value
        }
    }

    var isEmpty: Bool { values.isEmpty }

    subscript(key: String) -> [UInt8]? { values[key] }
}

/// Names an upload that is sent to a folder. No name leaves the folder.
enum UploadName {
    /// tus: `filename`, below `relativePath` when that is given. Some clients send `relativePath` with the file's name at its
    /// end, some without, some send the word "null" for none. A target without a slash at its end and no `filename` is the
    /// file itself; a folder and no name at all gets `unnamed`.
    static func path(
        _ target: TargetPath, _ metadata: UploadMetadata, unnamed: String
    ) throws(TargetProblem) -> TargetPath {
        let name = metadata["filename"].flatMap { $0.isEmpty ? nil : $0 }
        let relative = metadata["relativePath"].flatMap { $0.isEmpty || $0 == Array("null".utf8) ? nil : $0 }
        let folders = (relative ?? []).split(separator: UInt8(ascii: "/")).map { Array($0) }
        switch name {
        case nil where !folders.isEmpty: return try target.appending(folders)
        case nil: return try whole(target, unnamed)
        case let name? where folders.last == name: return try target.appending(folders)
        case let name?: return try target.appending(folders + [name])
        }
    }

    /// IETF's POST: the file name of `Content-Disposition`, the same otherwise.
    static func path(
        _ target: TargetPath, contentDisposition: String?, unnamed: String
    ) throws(TargetProblem) -> TargetPath {
        guard target.isFolder, let name = fileName(inDisposition: contentDisposition) else {
            return try whole(target, unnamed)
        }
        return try target.appending([name])
    }

    private static func whole(_ target: TargetPath, _ unnamed: String) throws(TargetProblem) -> TargetPath {
        target.isFolder ? try target.appending([Array(unnamed.utf8)]) : target
    }

    /// `filename*` (RFC 8187, UTF-8 only) before `filename`, as RFC 6266 wants it.
    static func fileName(inDisposition field: String?) -> [UInt8]? {
        var plain: [UInt8]?
        for parameter in parameters(field ?? "").dropFirst() {
            let halves = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2 else { continue }
            let value = trimmed(halves[1])
            switch trimmed(halves[0]).lowercased() {
            case "filename*":
                let words = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
                guard words.count == 3, words[0].lowercased() == "utf-8",
                    let name = try? TargetPath.decode(Array(words[2].utf8)[...]), !name.isEmpty
                else { continue }
                return name
            case "filename": plain = unquoted(value)
            default: continue
            }
        }
        return plain.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The pieces between semicolons that no quotes enclose.
    private static func parameters(_ field: String) -> [Substring] {
        var pieces: [Substring] = []
        var (isQuoted, isEscaped) = (false, false)
        var start = field.startIndex
        for position in field.utf8.indices {
            let byte = field.utf8[position]
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\"), isQuoted {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if byte == UInt8(ascii: ";"), !isQuoted {
                pieces.append(field[start..<position])
                start = field.utf8.index(after: position)
            }
        }
        return pieces + [field[start...]]
    }

    private static func unquoted(_ value: Substring) -> [UInt8] {
        let bytes = Array(value.utf8)
        guard bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") else {
            return bytes
        }
        var name: [UInt8] = []
        var isEscaped = false
        for byte in bytes.dropFirst().dropLast() {
            isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
            if !isEscaped { name.append(byte) }
        }
        return name
    }
}
