import Glibc

/// A file as the kernel has it in its memory and as the disk has it: what was written and not synced is on the disk by chance.
///
/// The kernel's side is a real file; this is the disk's side.
final class DiskFile {
    /// Something that happened to the file since its last sync.
    enum Change {
        case write(offset: Int, [UInt8])
        case size(Int)
    }

    /// Bytes that a power cut leaves there for sure, where nothing of `pending` comes over them.
    private(set) var durable: [UInt8]
    private(set) var pending: [Change] = []
    /// A sync has failed: the kernel shows bytes that it will never write, unless their page is written to again.
    private var hasLostPages = false
    /// Descriptors whose next sync tells of a failure that another one has seen.
    var untold: Set<Int32> = []
    /// Of the real file, where somebody else may put another under its name.
    var inode: UInt64?

    private static let page = 4096

    init(_ durable: [UInt8] = []) { self.durable = durable }

    /// - Parameter descriptor: of the real file, which has the bytes already.
    func wrote(_ bytes: UnsafeRawBufferPointer, at offset: Int, _ descriptor: Int32) {
        if !hasLostPages { return pending.append(.write(offset: offset, [UInt8](bytes))) }
        // The kernel writes whole pages: what was lost of them goes along.
        let start = offset / Self.page * Self.page
        let end = (offset + bytes.count + Self.page - 1) / Self.page * Self.page
        var pages = [UInt8](repeating: 0, count: end - start)
        let count = pread(descriptor, &pages, pages.count, start)
        pending.append(.write(offset: start, Array(pages.prefix(max(0, count)))))
    }

    func resized(to size: Int) { pending.append(.size(size)) }

    /// `fsync` has returned well: the disk has all that was written, except what an earlier one lost.
    func synced() {
        for change in pending { Self.apply(change, to: &durable) }
        pending = []
    }

    /// The disk has these bytes, whatever was written before.
    func settle(_ bytes: [UInt8]) {
        durable = bytes
        pending = []
        hasLostPages = false
    }

    /// `fsync` has failed: some pages were written, the others are never written, and the next `fsync` says nothing of them.
    func failedToSync(_ chance: inout Chance) {
        for change in pending {
            switch change {
            case .size: Self.apply(change, to: &durable)
            case .write(let offset, let bytes): writePages(bytes, at: offset, to: &durable, tears: false, &chance)
            }
        }
        pending = []
        hasLostPages = true
    }

    /// The bytes that a power cut leaves: of what was not synced all, nothing, what came first, or any pages and parts of pages.
    func surviving(_ chance: inout Chance) -> [UInt8] {
        var image = durable
        switch chance.below(4) {
        case 0: return image
        case 1: for change in pending { Self.apply(change, to: &image) }
        case 2: for change in pending.prefix(chance.below(pending.count + 1)) { Self.apply(change, to: &image) }
        default:
            for change in pending {
                switch change {
                // File systems write their changes of sizes in order: after a lost one nothing of later ones is there.
                case .size where chance.oneIn(2): return image
                case .size: Self.apply(change, to: &image)
                case .write(let offset, let bytes): writePages(bytes, at: offset, to: &image, tears: true, &chance)
                }
            }
        }
        return image
    }

    private func writePages(
        _ bytes: [UInt8], at offset: Int, to image: inout [UInt8], tears: Bool, _ chance: inout Chance
    ) {
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, ((offset + start) / Self.page + 1) * Self.page - offset)
            var part = start..<end
            if tears, chance.oneIn(4), part.count > 512 {
                // Sectors of it.
                let middle = start + 512 * (1 + chance.below(part.count / 512))
                part = chance.oneIn(2) ? start..<min(middle, end) : min(middle, end)..<end
            } else if chance.oneIn(2) {
                part = start..<start
            }
            if !part.isEmpty {
                Self.apply(.write(offset: offset + part.lowerBound, Array(bytes[part])), to: &image)
            }
            start = end
        }
    }

    private static func apply(_ change: Change, to image: inout [UInt8]) {
        switch change {
        case .size(let size):
            if size < image.count { image.removeLast(image.count - size) }
            if size > image.count { image += [UInt8](repeating: 0, count: size - image.count) }
        case .write(let offset, let bytes):
            let end = offset + bytes.count
            if image.count < end { image += [UInt8](repeating: 0, count: end - image.count) }
            image.withUnsafeMutableBytes { buffer in
                UnsafeMutableRawBufferPointer(rebasing: buffer[offset..<end]).copyBytes(from: bytes)
            }
        }
    }
}
