// UploadReceiver: the other end. An HTTP server that takes whole files by PUT and gives them out by GET.
//
// For whom: `martlet-receive` and tests. Which thread: libmicrohttpd's own call `Exchange`, one connection always on the
// same thread; publishing and listing happen on the workers of `Publisher` and `ReceiverContext`, digests on that of `FileDigester`.
// Where to start: `ReceiverContext.request(for:)` chooses who serves a request; `PutRequest` and `GetRequest` serve;
// what they decide is in values without effects: `PutMachine`, `Preconditions`, `RangeSelection`, `TargetPath`.

import Digests
package import LinuxSystem
import TransferModel

/// A running receiver. Made, used and stopped by one owner.
package final class UploadReceiver {
    /// Where it can be reached, with the port that was asked for; with port 0 the folder's usual one, or any when that is taken.
    package let url: String
    private let isForThisMachine: Bool
    private let context: ReceiverContext
    private let gate: StopGate
    private let daemon: HTTPDaemon
    private let journal: ReceiverJournal

    /// Begins to serve. The first line on `output` is `ready URL`; `output` stays the caller's.
    package init(_ configuration: ReceiverConfiguration, output: Int32) throws(ReceiverError) {
        let listen = configuration.listen
        journal = try Self.step(.starting) { () throws(Errno) in try ReceiverJournal(output: output) }
        if let characterSet = configuration.showsUploads {
            try Self.step(.starting) { [journal] () throws(Errno) in try journal.showUploads(characterSet) }
        }
        gate = try Self.step(.starting) { () throws(Errno) in try StopGate() }
        context = try Self.step(.folder(configuration.folder)) { [journal] () throws(Errno) in
            try ReceiverContext(configuration, journal: journal)
        }
        let usual = listen.port == 0 ? Self.usualPort(of: configuration.folder) : nil
        let (listener, port) = try Self.step(.listening(listen)) { () throws(Errno) in
            let listener = try Self.listener(listen, usual)
            return (listener, try InternetSocket.localPort(of: listener.rawValue))
        }
        daemon = try HTTPDaemon(context, gate, listener: listener, threads: configuration.limits.threads)
        url = "\(configuration.tls == nil ? "http" : "https")://\(listen.with(port: port).reachable.authority)/"
        isForThisMachine = listen.isLoopback
        journal.report(.notice("ready \(url)"))
        if let usual, usual != port {
            journal.report(
                .notice(
                    "port \(usual), which this folder usually has, is taken: what was queued to that one does not come here"
                ))
        }
        if context.incoming.removedLeftovers > 0 {
            journal.report(
                .notice("unfinished files of an earlier run that were removed: \(context.incoming.removedLeftovers)"))
        }
    }

    /// A listener on the folder's usual port, or on any free one when that is taken.
    private static func listener(_ listen: ListenAddress, _ usual: UInt16?) throws(Errno) -> OwnedDescriptor {
        if let usual {
            do {
                return try InternetSocket.listen(host: listen.host, isIPv6: listen.isIPv6, port: usual)
            } catch .addressInUse {}
        }
        return try InternetSocket.listen(host: listen.host, isIPv6: listen.isIPv6, port: listen.port)
    }

    /// The same for a folder at each start, so that what is queued to its URL goes on when the receiver comes back. Below the ports that
    /// systems give out by themselves (from 32768 on, on Linux), which a passing connection might have taken.
    static func usualPort(of folder: [UInt8]) -> UInt16? { (try? System.realpath(folder)).map(usualPort(ofReal:)) }

    static func usualPort(ofReal path: [UInt8]) -> UInt16 {
        let number = DigestAlgorithm.sha256.digest(of: path).bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
        return UInt16(20_000 + number % 12_000)
    }

    /// Shows the URL as a QR code, for the camera of a telephone; not one that only this machine can use.
    package func showCode() {
        guard !isForThisMachine, let code = QRCode(url) else { return }
        journal.report(.notice(code.lines.joined(separator: "\n")))
    }

    /// Ends: no new connections, what is being published is published and answered, everything else is dropped without
    /// leaving a trace. Returns when all of it is done.
    package func stop() {
        daemon.stopListening()
        context.digester.giveUp()
        gate.stop()
        gate.waitForAnswers(.seconds(1))
        daemon.stop()
        context.stop()
        journal.stop()
    }

    private static func step<T>(
        _ step: ReceiverError.Step, _ body: () throws(Errno) -> T
    ) throws(ReceiverError) -> T {
        do {
            return try body()
        } catch {
            throw .system(step, error)
        }
    }
}

/// Why a receiver does not start.
package enum ReceiverError: Error, Equatable, CustomStringConvertible {
    case system(Step, Errno)
    /// What libmicrohttpd or GnuTLS said.
    case httpLibrary(String)

    package enum Step: Equatable, Sendable {
        case starting
        case folder([UInt8])
        case listening(ListenAddress)
        case reading([UInt8])
    }

    /// What happened and what to do, for a person.
    package var description: String {
        switch self {
        case .system(.starting, let error): "cannot start: \(error)"
        case .system(.folder(let path), .noSuchFile):
            "there is no folder \(RawPath(path).displayed): make it first"
        case .system(.folder(let path), let error):
            "cannot use the folder \(RawPath(path).displayed): \(error)"
        case .system(.listening(let address), .addressInUse):
            "cannot listen on \(address.authority): it is in use: choose another port with --listen"
        case .system(.reading(let path), let error): "cannot read \(RawPath(path).displayed): \(error)"
        case .system(.listening(let address), let error): "cannot listen on \(address.authority): \(error)"
        case .httpLibrary(let text):
            "the HTTP library does not start: " + (text.isEmpty ? "it does not say why" : RawPath(text).displayed)
        }
    }
}
