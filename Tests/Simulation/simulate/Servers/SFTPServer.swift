import LinuxSystem
import TransferModel
import WireOperations

/// A model SFTP server: what it does to its files, message by message.
final class SFTPServer {
    enum Message {
        case operation(SFTPOperation)
        case data(SFTPHandle, offset: Int64, [UInt8])
        case read(SFTPHandle, offset: Int64, count: Int)
    }

    enum Answer {
        case reply(SFTPReply)
        case bytes([UInt8])
    }

    /// Handles whose file found the disk full; all that is written there afterwards is refused, too, unless there is room for a moment.
    private var full: Set<SFTPHandle> = []

    private enum Open {
        case file(RemoteFile)
        case folder([SFTPName])
    }

    let disk: ServerDisk
    let character: ServerCharacter
    private let network: Network
    private var open: [SFTPHandle: Open] = [:]
    private var lastHandle: UInt64 = 0

    init(_ disk: ServerDisk, _ character: ServerCharacter, _ network: Network) {
        self.disk = disk
        self.character = character
        self.network = network
    }

    var features: SFTPFeatures {
        var features = SFTPFeatures()
        features.renamesOver = character.hasExtensions
        features.syncs = character.hasExtensions
        features.tellsFreeSpace = character.hasExtensions
        features.isOpenSSH = character.hasExtensions && !character.renameReplaces
        return features
    }

    /// The file that a handle is open for.
    func file(_ handle: SFTPHandle) -> RemoteFile? {
        guard case .file(let file)? = open[handle] else { return nil }
        return file
    }

    /// The connection that had them is gone.
    func close(_ handles: Set<SFTPHandle>) { for handle in handles { open[handle] = nil } }

    /// The power fails: what was written and not synced is lost, as far as the seed says. A small file that has its final name keeps its
    /// bytes: that those are not synced one by one is our own choice (`SFTPUpload+Payload`), and a power cut may undo it.
    func crash() {
        for case .file(let file) in open.sorted(by: { $0.key.rawValue < $1.key.rawValue }).map(\.value)
        where file.synced < file.bytes.count {
            guard let name = disk.name(of: file), name.hasSuffix(".martlet-part") else { continue }
            file.bytes.removeLast(network.weather.chance.below(file.bytes.count - file.synced + 1))
            disk.changed(name)
        }
        open = [:]
    }

    func answer(_ message: Message) -> Answer {
        switch message {
        case .operation(let operation): return .reply(reply(operation))
        case .data(let handle, let offset, let bytes): return .reply(write(handle, Int(offset), bytes))
        case .read(let handle, let offset, let count):
            guard case .file(let file)? = open[handle] else { return .reply(.refused(.failure, "bad handle")) }
            let start = min(Int(offset), file.bytes.count)
            return .bytes(Array(file.bytes[start..<min(start + count, file.bytes.count)]))
        }
    }

    private func write(_ handle: SFTPHandle, _ offset: Int, _ bytes: [UInt8]) -> SFTPReply {
        guard case .file(let file)? = open[handle] else { return .refused(.failure, "bad handle") }
        if full.contains(handle) || network.weather.strikes(oneIn: 300) {
            if !character.isFullForAMoment { full.insert(handle) }
            return .refused(.failure, "No space left on device")
        }
        if file.bytes.count < offset { file.bytes += [UInt8](repeating: 0, count: offset - file.bytes.count) }
        file.bytes.replaceSubrange(offset..<min(offset + bytes.count, file.bytes.count), with: bytes)
        file.synced = min(file.synced, offset)
        file.modified = disk.now
        if let name = disk.name(of: file) { disk.changed(name) }
        return .done
    }

    private func add(_ new: Open) -> SFTPReply {
        lastHandle += 1
        let handle = SFTPHandle(rawValue: lastHandle << 16 | UInt64(network.number(of: disk.host)))
        open[handle] = new
        return .opened(handle)
    }

    private func attributes(_ file: RemoteFile) -> SFTPReply {
        .attributes(SFTPAttributes(size: Int64(file.bytes.count), modified: file.modified))
    }

    private func reply(_ operation: SFTPOperation) -> SFTPReply {
        // As a server that is short of something, or whose file system is read-only for a while.
        if network.weather.strikes(oneIn: 200) { return .refused(.failure, "Failure") }
        switch operation {
        case .openForWriting(let path):
            let name = path.displayed
            if disk.isFolder(name) { return .refused(.failure, "Is a directory") }
            if network.weather.strikes(oneIn: 100) { return .refused(.permissionDenied, "Permission denied") }
            guard disk.isFolder(ServerDisk.parent(name)) else { return .refused(.noSuchFile, "No such file") }
            if disk.file(name) == nil { disk.put(RemoteFile(modified: disk.now), at: name) }
            return disk.file(name).map { add(.file($0)) } ?? .refused(.failure, "")
        case .openForReading(let path):
            return disk.file(path.displayed).map { add(.file($0)) } ?? .refused(.noSuchFile, "No such file")
        case .status(let path):
            if disk.isFolder(path.displayed) { return .attributes(SFTPAttributes(size: nil, isFolder: true)) }
            return disk.file(path.displayed).map(attributes) ?? .refused(.noSuchFile, "No such file")
        case .rename(let old, let new, let replaces): return rename(old.displayed, new.displayed, replaces)
        case .remove(let path):
            if disk.file(path.displayed) == nil { return .refused(.noSuchFile, "No such file") }
            disk.put(nil, at: path.displayed)
            return .done
        case .makeFolders(let path):
            disk.makeFolders(path.displayed)
            return .done
        case .openFolder(let path):
            guard disk.isFolder(path.displayed) else { return .refused(.noSuchFile, "No such file") }
            network.world.count("listings of folders")
            return add(
                .folder(
                    disk.entries(of: path.displayed).map { name, file in
                        SFTPName(
                            RawPath(name),
                            SFTPAttributes(
                                size: file.map { Int64($0.bytes.count) }, modified: file?.modified,
                                isFolder: file == nil))
                    }))
        case .freeSpace: return character.hasExtensions ? .freeSpace(1 << 40) : .refused(.unsupported, "")
        case .handleStatus(let handle), .write(let handle, _), .read(let handle, _), .setSize(let handle, _),
            .setModified(let handle, _), .sync(let handle), .close(let handle), .readFolder(let handle):
            return replyOpen(operation, handle)
        }
    }

    private func rename(_ old: String, _ new: String, _ replaces: Bool) -> SFTPReply {
        if replaces, !character.hasExtensions { return .refused(.unsupported, "Operation unsupported") }
        guard let file = disk.file(old) else { return .refused(.noSuchFile, "No such file") }
        if disk.file(new) != nil, !replaces, !character.renameReplaces { return .refused(.failure, "Failure") }
        if disk.isFolder(new) { return .refused(.failure, "Failure") }
        disk.put(nil, at: old)
        disk.put(file, at: new)
        return .done
    }

    private func replyOpen(_ operation: SFTPOperation, _ handle: SFTPHandle) -> SFTPReply {
        if case .close = operation {
            return open.removeValue(forKey: handle) == nil ? .refused(.failure, "bad handle") : .done
        }
        switch (operation, open[handle]) {
        case (.readFolder, .folder(let names)?):
            if names.isEmpty { return .refused(.endOfFile, "") }
            open[handle] = .folder(Array(names.dropFirst(3)))
            return .names(Array(names.prefix(3)))
        case (.handleStatus, .file(let file)?): return attributes(file)
        case (.setSize(_, let size), .file(let file)?):
            let size = Int(size)
            let missing = max(0, size - file.bytes.count)
            file.bytes = file.bytes.prefix(size) + [UInt8](repeating: 0, count: missing)
            file.synced = min(file.synced, size)
            if let name = disk.name(of: file) { disk.changed(name) }
            return .done
        case (.setModified(_, let time), .file(let file)?):
            file.modified = time
            return .done
        case (.sync, .file(let file)?):
            guard character.hasExtensions else { return .refused(.unsupported, "Operation unsupported") }
            file.synced = file.bytes.count
            return .done
        default: return .refused(.failure, "bad handle")
        }
    }
}
