import TransferModel
import WireOperations

/// Operations and answers as a story tells them.
enum Words {
    static func of(_ operation: SFTPOperation) -> String {
        switch operation {
        case .openForWriting(let path): "open \(path.displayed) for writing"
        case .openForReading(let path): "open \(path.displayed)"
        case .status(let path): "stat \(path.displayed)"
        case .handleStatus(let handle): "stat handle \(number(handle))"
        case .write(let handle, let range): "write \(range) of handle \(number(handle))"
        case .read(let handle, let offset): "read handle \(number(handle)) from \(offset)"
        case .setSize(let handle, let size): "size of handle \(number(handle)) = \(size)"
        case .setModified(let handle, let time): "time of handle \(number(handle)) = \(time)"
        case .sync(let handle): "sync handle \(number(handle))"
        case .close(let handle): "close handle \(number(handle))"
        case .rename(let old, let new, let replaces):
            "rename \(old.displayed) to \(new.displayed)\(replaces ? ", replacing" : "")"
        case .remove(let path): "remove \(path.displayed)"
        case .makeFolders(let path): "make folder \(path.displayed)"
        case .openFolder(let path): "open folder \(path.displayed)"
        case .readFolder(let handle): "list handle \(number(handle))"
        case .freeSpace(let path): "free space of \(path.displayed)"
        }
    }

    static func of(_ reply: SFTPReply) -> String {
        switch reply {
        case .done: "done"
        case .opened(let handle): "handle \(number(handle))"
        case .attributes(let attributes):
            attributes.isFolder ? "a folder" : "\(attributes.size ?? -1) B, time \(attributes.modified ?? -1)"
        case .freeSpace(let bytes): "\(bytes) B"
        case .names(let names): names.map(\.name.displayed).joined(separator: " ")
        case .refused(let status, let text): "refused (\(status)) \(text)"
        }
    }

    private static func number(_ handle: SFTPHandle) -> UInt64 { handle.rawValue >> 16 }
}
