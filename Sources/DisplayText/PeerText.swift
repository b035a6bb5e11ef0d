/// Text that came from another machine.
///
/// Comparing, hashing and taking apart a `String` by characters first sorts the marks behind each letter, and walking backwards counts all
/// flags before one: both take the square of their number, and a header of 100 KB would hold a thread for seconds. Real text has a handful of
/// marks at one letter (Unicode's stream-safe format, UAX #15 section 13, allows 30), so that no more are kept, and every such operation takes
/// time in proportion to the text's length. `.ci/check-peer-text` has the modules that meet other machines decode their bytes here.
extension String {
    /// Decodes UTF-8 that may come from a peer; what is not UTF-8 becomes U+FFFD, and what follows the 30th of a run of joining scalars is left out.
    package init(peer bytes: some Collection<UInt8>) {
        let text = String(decoding: bytes, as: UTF8.self)
        self = text.utf8.allSatisfy { $0 < 0x80 } ? text : Self.withShortRuns(text)
    }

    /// As above, of a C string.
    package init(peer text: UnsafePointer<CChar>) { self.init(peer: String(cString: text).utf8) }

    private static let mostJoined = 30

    private static func withShortRuns(_ text: String) -> String {
        var kept = String.UnicodeScalarView()
        var run = 0
        for scalar in text.unicodeScalars {
            run = scalar.joins ? run + 1 : 0
            if run <= mostJoined { kept.append(scalar) }
        }
        return String(kept)
    }
}

extension Unicode.Scalar {
    /// It belongs to the character before it, or is told from its neighbours by all that stand before it.
    fileprivate var joins: Bool {
        // Below are the letters of Europe, without marks of their own.
        guard value >= 0x300 else { return false }
        if value == 0x200D || (0x1F1E6...0x1F1FF).contains(value) { return true }
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: return true
        default:
            return properties.isGraphemeExtend || properties.isEmojiModifier
                || properties.canonicalCombiningClass != .notReordered
        }
    }
}
