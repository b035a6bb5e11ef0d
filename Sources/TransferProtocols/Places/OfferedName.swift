import Digests
import DisplayText
package import TransferModel
package import WireOperations

/// The name of a downloaded file: what `Content-Disposition` (RFC 6266) offers, else the original URL's last segment,
/// made harmless: it cannot leave the directory, hide itself, or look like an option.
package enum OfferedName {
    /// Never empty, at most 255 bytes.
    package static func choose(_ answer: HTTPAnswer, url: HTTPAddress) -> RawPath {
        let offered = answer.field("content-disposition").flatMap(fromDisposition)
        for candidate in [offered, url.lastSegment] {
            if let candidate, let name = harmless(candidate) { return RawPath(name) }
        }
        return RawPath("download")
    }

    /// The name of a file that is fetched from a path of a server that offers no other.
    static func choose(_ path: RawPath) -> RawPath {
        harmless(path.lastComponent.bytes).map { RawPath($0) } ?? RawPath("download")
    }

    /// True for a page about a folder instead of a file: HTML from an address that ends in a slash, with no name for it.
    package static func isFolder(_ answer: HTTPAnswer, url: HTTPAddress) -> Bool {
        guard url.lastSegment.isEmpty, let type = answer.field("content-type")?.lowercased() else { return false }
        let isPage = type.hasPrefix("text/html") || type.hasPrefix("application/xhtml+xml")
        return isPage && answer.field("content-disposition").flatMap(fromDisposition) == nil
    }

    /// `filename*` when it is UTF-8 or Latin-1, else `filename`.
    static func fromDisposition(_ value: String) -> [UInt8]? {
        var plain: [UInt8]?
        for (name, value) in parameters(value) {
            if name == "filename*", let bytes = extended(value) { return bytes }
            if name == "filename", plain == nil { plain = value }
        }
        return plain
    }

    /// `charset'language'percent-encoded` (RFC 8187).
    private static func extended(_ value: [UInt8]) -> [UInt8]? {
        let parts = value.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let bytes = PercentEncoding.decode(String(peer: parts[2]))
        switch String(peer: parts[0]).lowercased() {
        case "utf-8": return String(validating: bytes, as: UTF8.self) == nil ? nil : bytes
        case "iso-8859-1": return bytes.flatMap { Array(String(UnicodeScalar($0)).utf8) }
        default: return nil
        }
    }

    /// The parameters after the disposition's type; names in lower case, quoted strings unquoted.
    private static func parameters(_ value: String) -> [(String, [UInt8])] {
        var found: [(String, [UInt8])] = []
        var rest = Array(value.utf8)[...]
        while let semicolon = rest.firstIndex(of: UInt8(ascii: ";")) {
            rest = rest[(semicolon + 1)...]
            let nameEnd = rest.firstIndex { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ";") } ?? rest.endIndex
            let name = String(peer: rest[..<nameEnd]).trimmingSpaces().lowercased()
            guard nameEnd < rest.endIndex, rest[nameEnd] == UInt8(ascii: "=") else { continue }
            rest = rest[(nameEnd + 1)...].drop { $0 == 32 || $0 == 9 }
            if rest.first == UInt8(ascii: "\"") {
                found.append((name, quoted(&rest)))
            } else {
                let end = rest.firstIndex(of: UInt8(ascii: ";")) ?? rest.endIndex
                found.append((name, Array(String(peer: rest[..<end]).trimmingSpaces().utf8)))
                rest = rest[end...]
            }
        }
        return found
    }

    private static func quoted(_ rest: inout ArraySlice<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        rest = rest.dropFirst()
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            if byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() {
                // Old clients sent Windows paths unescaped: the part after the last backslash is the name either way.
                if escaped != UInt8(ascii: "\""), escaped != byte { text.append(byte) }
                text.append(escaped)
            } else {
                text.append(byte)
            }
        }
        return text
    }

    /// Bytes of the longest name that file systems take.
    static let longest = 255

    /// `nil` when nothing usable is left.
    package static func harmless(_ offered: [UInt8]) -> [UInt8]? {
        let separators = [UInt8(ascii: "/"), UInt8(ascii: "\\")]
        var name = offered.split(whereSeparator: { separators.contains($0) }).last.map(Array.init) ?? []
        name = withoutControls(name)
        name = Array(name.drop { [UInt8(ascii: "."), UInt8(ascii: "-"), 32].contains($0) })
        while let last = name.last, last == UInt8(ascii: ".") || last == 32 { name.removeLast() }
        return name.isEmpty ? nil : shortened(name)
    }

    /// Drops characters that are not shown as they are (`HarmlessText.hides`); bytes that are no UTF-8 stay.
    private static func withoutControls(_ bytes: [UInt8]) -> [UInt8] {
        var harmless: [UInt8] = []
        for byte in bytes {
            harmless.append(byte)
            // Dropping a character can join the bytes around it to another one, so the end is looked at each time.
            let length = (1...4).first { isHidden(harmless.suffix($0)) }
            if let length { harmless.removeLast(length) }
        }
        return harmless
    }

    private static func isHidden(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let scalars = String(validating: bytes, as: UTF8.self)?.unicodeScalars, let scalar = scalars.first else {
            return false
        }
        return scalars.count == 1 && HarmlessText.hides(scalar)
    }

    /// At most `longest` bytes, the extension kept and no character cut. Two long names that begin alike stay two: a part of their digest is in
    /// them.
    private static func shortened(_ name: [UInt8]) -> [UInt8] {
        guard name.count > longest else { return name }
        let dot = name.lastIndex(of: UInt8(ascii: "."))
        let ending = dot.flatMap { name.count - $0 <= 16 ? Array(name[$0...]) : nil } ?? []
        let tail = Array("~\(DigestAlgorithm.sha256.digest(of: name).hex.prefix(8))".utf8) + ending
        var stem = name.prefix(longest - tail.count)
        let isWhole = String(validating: name, as: UTF8.self) != nil
        while isWhole, !stem.isEmpty, String(validating: stem, as: UTF8.self) == nil { stem = stem.dropLast() }
        return Array(stem) + tail
    }
}
