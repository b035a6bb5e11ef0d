import Configuration
import DisplayText
import Glibc

/// A word of the command line: bytes, because a file's name need not be UTF-8.
package struct Argument: Hashable, Sendable {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }
    package init(_ text: String) { bytes = Array(text.utf8) }

    /// The word as text, when it is UTF-8.
    package var text: String? { String(validating: bytes, as: UTF8.self) }

    /// The word for a message: control and invalid bytes as `\xNN`, not longer than a line, and no password of a URL.
    package var shown: String {
        let whole = text.map { ShownAddress.of($0).harmless } ?? HarmlessText.of(bytes)
        return whole.count > 60 ? whole.prefix(57) + "..." : whole
    }

    /// The words of this process after its name, as the kernel handed them over.
    package static func ofThisProcess() -> [Argument] {
        let count = Int(Swift.CommandLine.argc)
        let words = Swift.CommandLine.unsafeArgv
        return (0..<count).dropFirst().compactMap { index in
            words[index].map { word in
                Argument(Array(UnsafeBufferPointer(start: word, count: strlen(word)).map { UInt8(bitPattern: $0) }))
            }
        }
    }
}
