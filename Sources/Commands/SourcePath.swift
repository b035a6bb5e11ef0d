import CommandLine
import Glibc
import LinuxSystem
import MartletKit

/// A SOURCE of `upload`: looked at before the engine hears of it, so that a wrong name is refused at once.
struct SourcePath {
    /// Absolute, without `.` components and doubled slashes.
    let path: RawPath
    /// What it will be called below the destination; empty when its contents go there themselves (`DIR/.`).
    let name: RawPath
    let isDirectory: Bool
    /// As it was typed.
    let shown: String

    init(_ word: Argument, currentDirectory: [UInt8]) throws(CommandFailure) {
        shown = word.shown
        guard word.bytes != [UInt8(ascii: "-")] else {
            throw .usage("upload: standard input (-) is not built yet", "write it to a file first")
        }
        path = Self.absolute(word.bytes, from: currentDirectory)
        isDirectory = try Self.look(at: path.bytes, shown: shown)
        name = try Self.name(of: word.bytes, path: path.bytes, isDirectory: isDirectory, shown: shown)
    }

    /// The path from the root. `..` stays: what it means the file system knows.
    static func absolute(_ path: [UInt8], from directory: [UInt8]) -> RawPath {
        let slash = UInt8(ascii: "/")
        let whole = path.first == slash ? path : directory + [slash] + path
        let parts = whole.split(separator: slash).filter { $0 != [UInt8(ascii: ".")] }
        return RawPath([slash] + parts.joined(separator: [slash]))
    }

    /// Whether it is a directory. It must be there, be a file or a directory, and be readable.
    private static func look(at path: [UInt8], shown: String) throws(CommandFailure) -> Bool {
        let kind: FileKind
        do { kind = try System.stat(path).kind } catch {
            let code: FailureCode = error == .noSuchFile || error == .notDirectory ? .sourceMissing : .sourceUnreadable
            let remedy = code == .sourceMissing ? "check the name" : "check its permissions"
            throw CommandFailure(.usage, code, "upload: \(shown): \(error)", remedy)
        }
        guard kind == .regular || kind == .directory else {
            throw CommandFailure(
                .usage, .sourceUnreadable, "upload: \(shown) is neither a file nor a directory",
                "only these can be sent")
        }
        let wanted = kind == .directory ? R_OK | X_OK : R_OK
        let isReadable = (try? withCPath(path) { access($0, wanted) == 0 }) ?? false
        guard isReadable else {
            throw CommandFailure(.usage, .sourceUnreadable, "upload: \(shown) cannot be read", "check its permissions")
        }
        return kind == .directory
    }

    private static func name(
        of word: [UInt8], path: [UInt8], isDirectory: Bool, shown: String
    ) throws(CommandFailure) -> RawPath {
        let typed = RawPath(word).lastComponent
        // `DIR/.`, `.` and `/` mean what is inside.
        if typed.text == "." || typed.bytes.isEmpty { return RawPath([]) }
        guard typed.text == ".." else { return typed }
        do { return RawPath(try System.realpath(path)).lastComponent } catch {
            throw CommandFailure(.usage, .sourceUnreadable, "upload: \(shown): \(error)", "give its name instead of ..")
        }
    }
}
