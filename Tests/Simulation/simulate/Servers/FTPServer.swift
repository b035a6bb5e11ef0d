import LinuxSystem
import TransferModel
import WireOperations

/// A model FTP server: what it does to its files, command by command. libcurl's part (login, TYPE, EPSV, folders that are missing) is
/// `SimulatedFTP`'s.
final class FTPServer {
    /// A file that bytes are stored into, for one `STOR` or `APPE`.
    final class Storing {
        let file: RemoteFile
        /// The disk had no room for some of it: the rest is dropped.
        var isFull = false

        init(_ file: RemoteFile) { self.file = file }
    }

    let disk: ServerDisk
    let character: ServerCharacter
    private let network: Network

    init(_ disk: ServerDisk, _ character: ServerCharacter, _ network: Network) {
        self.disk = disk
        self.character = character
        self.network = network
    }

    /// As a server that is short of something, or has had enough of us.
    private func trouble() -> FTPReply? {
        guard network.weather.strikes(oneIn: 80) else { return nil }
        switch network.weather.chance.below(4) {
        case 0: return FTPReply(code: 421, text: "Timeout.")
        case 1: return FTPReply(code: 450, text: "Requested file action not taken.")
        case 2: return FTPReply(code: 451, text: "Requested action aborted.")
        default: return FTPReply(code: 550, text: "Permission denied.")
        }
    }

    // MARK: Bytes

    func size(_ path: String) -> FTPAnswer {
        var answer = FTPAnswer()
        answer.command = "SIZE"
        if let trouble = trouble() {
            answer.reply = trouble
        } else if let file = disk.file(path) {
            answer.reply = FTPReply(code: 213, text: "\(file.bytes.count)")
            answer.size = Int64(file.bytes.count)
            answer.modified = Timestamp(seconds: file.modified)
        } else {
            answer.reply = FTPReply(code: 550, text: "Could not get file size.")
        }
        return answer
    }

    enum Opened {
        case storing(Storing)
        case refused(FTPReply)
    }

    /// `STOR` empties what is there, `APPE` goes on at its end.
    func store(_ path: String, appends: Bool) -> Opened {
        if let trouble = trouble() { return .refused(trouble) }
        if disk.isFolder(path) { return .refused(FTPReply(code: 553, text: "Could not create file.")) }
        guard disk.isFolder(ServerDisk.parent(path)) else {
            return .refused(FTPReply(code: 553, text: "Could not create file."))
        }
        if let file = disk.file(path) {
            if !appends {
                file.bytes = []
                file.modified = disk.now
                disk.changed(path)
            }
            return .storing(Storing(file))
        }
        let file = RemoteFile(modified: disk.now)
        disk.put(file, at: path)
        return .storing(Storing(file))
    }

    func received(_ bytes: [UInt8], _ storing: Storing) {
        if !storing.isFull, network.weather.strikes(oneIn: 300) { storing.isFull = true }
        if storing.isFull { return }
        storing.file.bytes += bytes
        storing.file.modified = disk.now
        if let name = disk.name(of: storing.file) { disk.changed(name) }
    }

    /// The data connection has come to its end.
    func stored(_ storing: Storing) -> FTPReply {
        if storing.isFull {
            return network.weather.chance.oneIn(2)
                ? FTPReply(code: 452, text: "Insufficient storage space.")
                : FTPReply(code: 552, text: "Exceeded storage allocation.")
        }
        return FTPReply(code: 226, text: "Transfer complete.")
    }

    enum Retrieved {
        /// The file, and the size that it has now.
        case file(RemoteFile, Int)
        case refused(FTPReply, command: String)
    }

    func retrieve(_ path: String) -> Retrieved {
        if let trouble = trouble() { return .refused(trouble, command: "RETR") }
        guard let file = disk.file(path) else {
            return .refused(FTPReply(code: 550, text: "Failed to open file."), command: "RETR")
        }
        return .file(file, file.bytes.count)
    }

    /// `MLSD`: the lines, or a refusal.
    func list(_ path: String) -> (lines: [UInt8], reply: FTPReply) {
        if let trouble = trouble() { return ([], trouble) }
        if !character.hasExtensions { return ([], FTPReply(code: 500, text: "Unknown command.")) }
        guard disk.isFolder(path) else { return ([], FTPReply(code: 550, text: "No such directory.")) }
        network.world.count("listings of folders")
        var text = "type=cdir;modify=20260101000000; .\r\n"
        for (name, file) in disk.entries(of: path) {
            if let file {
                text += "type=file;size=\(file.bytes.count);modify=\(FTPStamp.text(file.modified)); \(name)\r\n"
            } else {
                text += "type=dir;modify=20260101000000; \(name)\r\n"
            }
        }
        return (Array(text.utf8), FTPReply(code: 226, text: "MLSD complete."))
    }

    // MARK: Commands

    /// What `RNFR` has named on this connection.
    final class Session { var renaming: String? }

    func perform(_ command: String, _ session: Session) -> FTPReply {
        let words = command.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let argument = words.count > 1 ? words[1] : ""
        if let trouble = trouble() { return trouble }
        switch words[0] {
        case "MFMT" where character.hasExtensions: return setTime(argument)
        case "DELE":
            guard disk.file(argument) != nil else { return FTPReply(code: 550, text: "Delete operation failed.") }
            disk.put(nil, at: argument)
            return FTPReply(code: 250, text: "Delete operation successful.")
        case "MKD":
            if disk.isFolder(argument) || disk.file(argument) != nil {
                return FTPReply(code: 550, text: "Create directory operation failed.")
            }
            disk.makeFolders(argument)
            return FTPReply(code: 257, text: "created")
        case "CWD":
            return disk.isFolder(argument)
                ? FTPReply(code: 250, text: "Directory successfully changed.")
                : FTPReply(code: 550, text: "Failed to change directory.")
        case "RNFR":
            session.renaming = disk.file(argument) == nil ? nil : argument
            return session.renaming == nil
                ? FTPReply(code: 550, text: "RNFR command failed.") : FTPReply(code: 350, text: "Ready for RNTO.")
        case "RNTO": return rename(session, to: argument)
        default: return FTPReply(code: 500, text: "Unknown command.")
        }
    }

    private func setTime(_ argument: String) -> FTPReply {
        let words = argument.split(separator: " ", maxSplits: 1).map(String.init)
        guard words.count == 2, let file = disk.file(words[1]), let seconds = FTPStamp.seconds(words[0]) else {
            return FTPReply(code: 550, text: "MFMT failed.")
        }
        file.modified = seconds
        return FTPReply(code: 213, text: "Modify=\(words[0]); \(words[1])")
    }

    private func rename(_ session: Session, to new: String) -> FTPReply {
        guard let old = session.renaming, let file = disk.file(old) else {
            return FTPReply(code: 503, text: "RNFR required first.")
        }
        session.renaming = nil
        let isSame = disk.key(old) == disk.key(new)
        if disk.isFolder(new) || disk.file(new) != nil && !character.renameReplaces && !isSame {
            return FTPReply(code: 550, text: "Cannot create a file when that file already exists.")
        }
        disk.put(nil, at: old)
        disk.put(file, at: new)
        return FTPReply(code: 250, text: "Rename successful.")
    }
}

/// Times as FTP writes them, UTC.
enum FTPStamp {
    static func text(_ seconds: Int64) -> String {
        String(
            decoding: Timestamp(seconds: seconds).description.utf8.filter { (48...57).contains($0) }.prefix(14),
            as: UTF8.self)
    }

    static func seconds(_ text: String) -> Int64? {
        let digits = Array(text)
        guard digits.count == 14 else { return nil }
        func part(_ range: Range<Int>) -> String { String(digits[range]) }
        return Timestamp(
            "\(part(0..<4))-\(part(4..<6))-\(part(6..<8))T\(part(8..<10)):\(part(10..<12)):\(part(12..<14))Z"
        ).map { $0.milliseconds / 1000 }
    }
}
