import Glibc
import LinuxSystem
import TransferModel

/// A file of authorities that a batch is to trust. It is looked at before anything is queued with it: later each file of the batch would
/// fail for it.
enum AuthoritiesFile {
    private static let mark = Array("-----BEGIN ".utf8)

    /// Refuses a file that cannot be read or holds no certificate. A disk that does not answer keeps nobody else waiting.
    static func check(_ path: RawPath?) async throws(RequestError) {
        guard let path else { return }
        guard path.text != nil else {
            throw RequestError(.usage, "--ca \(path.displayed): the name is not UTF-8: rename the file")
        }
        let found: Result<Void, RequestError>
        do {
            found = try await BlockingWorker.alone("authorities") {
                Result { () throws(RequestError) in try read(path) }
            }
        } catch {
            throw RequestError(.refused, "--ca \(path.displayed) cannot be read now (\(error)): try again later")
        }
        try found.get()
    }

    private static func read(_ path: RawPath) throws(RequestError) {
        do throws(Errno) {
            // A FIFO without a writer is opened at once, and is none.
            let file = try System.open(path.bytes, flags: O_RDONLY | O_NONBLOCK | O_NOCTTY)
            let status = try System.fstat(file.rawValue)
            guard status.size <= Int64(TransferOptions.largestCAFile) else { throw Errno.fileTooLarge }
            guard status.kind == .regular, try holdsCertificate(file.rawValue) else { throw Errno.invalidArgument }
        } catch .fileTooLarge {
            throw RequestError(
                .usage, "--ca \(path.displayed) is larger than 8 MB: name a file with fewer authorities")
        } catch .invalidArgument {
            throw RequestError(.usage, "--ca \(path.displayed) holds no certificate: name a PEM file of authorities")
        } catch {
            throw RequestError(.usage, "--ca \(path.displayed) cannot be read (\(error)): check the name")
        }
    }

    private static func holdsCertificate(_ descriptor: Int32) throws(Errno) -> Bool {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
        defer { buffer.deallocate() }
        var kept: [UInt8] = []
        var seen = 0
        while seen < TransferOptions.largestCAFile {
            let count = try System.read(descriptor, buffer)
            if count == 0 { return false }
            seen += count
            kept += buffer[..<count]
            if kept.firstRange(of: mark) != nil { return true }
            // The mark may stand across two readings.
            kept = Array(kept.suffix(mark.count))
        }
        return false
    }
}
