import DisplayText
import Glibc
import LinuxSystem

/// The life of the program: serve until asked to leave.
package enum ReceiverProgram {
    /// Serves on the calling thread, which must be the first and only one, until SIGTERM, SIGINT or SIGHUP.
    package static func run(_ configuration: ReceiverConfiguration) throws(ReceiverError) {
        Signals.ignoreBrokenPipe()
        let leaving = [SIGTERM, SIGINT, SIGHUP]
        Signals.block(leaving)
        allowManyDescriptors()
        let loop: EventLoop
        do {
            loop = try EventLoop(adoptingCurrentThread: ())
        } catch {
            throw .system(.starting, error)
        }
        var configuration = configuration
        let isTerminal = System.isTerminal(STDOUT_FILENO)
        configuration.showsToken = isTerminal
        if isTerminal, canRedraw { configuration.showsUploads = showsBlocks ? .utf8 : .ascii }
        let receiver = try UploadReceiver(configuration, output: STDOUT_FILENO)
        if isTerminal, showsBlocks { receiver.showCode() }
        let source: SignalSource
        do {
            source = try SignalSource(on: loop, leaving) { _ in loop.stop() }
        } catch {
            receiver.stop()
            throw .system(.starting, error)
        }
        loop.run()
        source.cancel()
        receiver.stop()
    }

    /// True when `TERM` names a terminal that can redraw its lines.
    private static var canRedraw: Bool {
        let name = System.environment("TERM") ?? []
        return !name.isEmpty && name != Array("dumb".utf8)
    }

    /// True when the locale in the environment says that the terminal's characters are UTF-8.
    private static var showsBlocks: Bool {
        let names = ["LC_ALL", "LC_CTYPE", "LANG"]
        let locale = names.lazy.compactMap { System.environment($0) }.first { !$0.isEmpty } ?? []
        let text = String(decoding: locale, as: UTF8.self).lowercased()
        return text.contains("utf-8") || text.contains("utf8")
    }

    /// A connection needs up to three descriptors, and the usual soft limit is 1024. Failing leaves that limit, and
    /// then uploads beyond it are answered 503.
    private static func allowManyDescriptors() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, 65_536)
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}

extension ReceiverConfiguration {
    /// A whole small file: a token, a certificate, a key. At most a mebibyte.
    package static func readFile(_ path: [UInt8]) throws(ReceiverError) -> [UInt8] {
        do {
            let file = try System.open(path)
            var bytes = [UInt8](repeating: 0, count: 1 << 20)
            var count = 0
            while count < bytes.count {
                let step: Result<Int, Errno> = bytes.withUnsafeMutableBytes { buffer in
                    Result { () throws(Errno) in
                        try System.read(file.rawValue, UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
                    }
                }
                let read = try step.get()
                if read == 0 { break }
                count += read
            }
            return Array(bytes[..<count])
        } catch {
            throw .system(.reading(path), error)
        }
    }

    /// The token in the environment; nil when there is none.
    package static var tokenInEnvironment: [UInt8]? { System.environment("MARTLET_RECEIVE_TOKEN") }
}
