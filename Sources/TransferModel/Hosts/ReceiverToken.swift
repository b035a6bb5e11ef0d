/// The token that a receiver makes for itself, and where it is kept for programs of the same user: one file for each port, in a folder
/// of the state directory. Whoever can read the file may upload.
package enum ReceiverToken {
    /// The folder's name below the state directory.
    package static let folderName = "receive"

    /// The file's name inside the folder.
    package static func fileName(port: UInt16) -> String { "\(port).token" }

    /// The token that a file holds: its first line, of visible ASCII characters; `nil` when it holds none.
    package static func token(in contents: some Collection<UInt8>) -> [UInt8]? {
        let line = contents.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard !line.isEmpty, line.allSatisfy({ (33...126).contains($0) }) else { return nil }
        return Array(line)
    }
}
