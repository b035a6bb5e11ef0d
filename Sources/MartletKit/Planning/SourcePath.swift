import Configuration
import Glibc
import LinuxSystem
package import TransferModel

/// A file or directory to upload, as a person named it: looked at before the engine hears of it, so that a wrong name is refused at once.
package struct SourcePath: Sendable {
    /// Absolute, without `.` components and doubled slashes.
    package let path: RawPath
    /// The name below the destination; empty when its contents go there themselves (`DIR/.`).
    package let name: RawPath
    package let isDirectory: Bool
    /// As it was typed.
    package let shown: String

    package init(_ word: [UInt8], currentDirectory: [UInt8]) throws(QueueingFault) {
        shown = Self.shown(word)
        guard word != [UInt8(ascii: "-")] else {
            throw .usage("standard input (-) is not built yet", "write it to a file first")
        }
        path = Self.absolute(word, from: currentDirectory)
        // What is no file may be a URL in the wrong place, with a password in it.
        let missing = Self.shown(Array(ShownAddress.of(RawPath(word).displayed).utf8))
        isDirectory = try Self.look(at: path.bytes, shown: shown, missing: missing)
        name = try Self.name(of: word, path: path.bytes, isDirectory: isDirectory, shown: shown)
    }

    /// The path from the root. `..` stays: what it means the file system knows.
    package static func absolute(_ path: [UInt8], from directory: [UInt8]) -> RawPath {
        let slash = UInt8(ascii: "/")
        let whole = path.first == slash ? path : directory + [slash] + path
        let parts = whole.split(separator: slash).filter { $0 != [UInt8(ascii: ".")] }
        return RawPath([slash] + parts.joined(separator: [slash]))
    }

    /// True for a directory. It must be there, be a file or a directory, and be readable.
    private static func look(at path: [UInt8], shown: String, missing: String) throws(QueueingFault) -> Bool {
        let kind: FileKind
        do { kind = try System.stat(path).kind } catch {
            let code: QueueingFault.Code =
                error == .noSuchFile || error == .notDirectory ? .sourceMissing : .sourceUnreadable
            let remedy = code == .sourceMissing ? "check the name" : "check its permissions"
            throw QueueingFault(code, "\(missing): \(error)", remedy)
        }
        guard kind == .regular || kind == .directory else {
            throw QueueingFault(
                .sourceUnreadable, "\(shown) is neither a file nor a directory",
                "only these can be sent")
        }
        let wanted = kind == .directory ? R_OK | X_OK : R_OK
        let isReadable = (try? withCPath(path) { access($0, wanted) == 0 }) ?? false
        guard isReadable else {
            throw QueueingFault(.sourceUnreadable, "\(shown) cannot be read", "check its permissions")
        }
        return kind == .directory
    }

    private static func name(
        of word: [UInt8], path: [UInt8], isDirectory: Bool, shown: String
    ) throws(QueueingFault) -> RawPath {
        let typed = RawPath(word).lastComponent
        // `DIR/.`, `.` and `/` mean what is inside.
        if typed.text == "." || typed.bytes.isEmpty { return RawPath([]) }
        guard typed.text == ".." else { return typed }
        do { return RawPath(try System.realpath(path)).lastComponent } catch {
            throw QueueingFault(.sourceUnreadable, "\(shown): \(error)", "give its name instead of ..")
        }
    }

    /// The word for a message: harmless, and not longer than a line.
    private static func shown(_ word: [UInt8]) -> String {
        let whole = RawPath(word).displayed
        return whole.count > 60 ? whole.prefix(57) + "..." : whole
    }
}
