import Digests
import LinuxSystem

/// A folder's names as text: one a line, percent-encoded as in a URL, folders with a slash behind.
///
/// Unchecked: `result` is written by the reading thread before it calls `done`, and read only after that.
final class FolderIndex: @unchecked Sendable {
    private(set) var result = Result<String, Errno>.failure(.canceled)

    func read(_ folder: ServedFolder, _ path: TargetPath) {
        do {
            result = .success(Self.text(try folder.names(in: path)))
        } catch {
            result = .failure(error)
        }
    }

    static func text(_ names: [[UInt8]]) -> String {
        let slash = UInt8(ascii: "/")
        var text = ""
        for name in names {
            let isFolder = name.last == slash
            text += TargetPath.percentEncoded(isFolder ? name.dropLast() : name) + (isFolder ? "/\n" : "\n")
        }
        return text
    }
}
