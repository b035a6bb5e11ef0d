// UploadReceiver: the other end. An HTTP server that takes whole files by PUT and gives them out by GET.
//
// For whom: `martlet-receive` and tests. Which thread: libmicrohttpd's own call `ServedExchange`, one connection always on the
// same thread; publishing and listing happen on the workers of `Publisher` and `ReceiverContext`, digests on that of `FileDigester`.
// Where to start: `Doorkeeper` lets a request in or not, `ReceiverContext.request(for:)` chooses who serves it; `PutRequest` and `GetRequest` serve;
// what they decide is in values without effects: `PutMachine`, `Preconditions`, `RangeSelection`, `TargetPath`.

import Digests
import DisplayText
package import LinuxSystem

/// A running receiver. Made, used and stopped by one owner.
package final class UploadReceiver {
    /// The receiver's URL, with the requested port; for port 0 with the folder's usual port, or any free one when that is taken.
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
        try HiddenFolder.check(in: configuration.folder)
        let usual = listen.port == 0 ? Self.usualPort(of: configuration.folder) : nil
        let (listener, port) = try Self.step(.listening(listen)) { () throws(Errno) in
            let listener = try Self.listener(listen, usual)
            return (listener, try InternetSocket.localPort(of: listener.rawValue))
        }
        var configuration = configuration
        let kept = try Self.keptToken(configuration.access, port)
        if let kept { configuration.access = .token(kept.token) }
        let isTLS = configuration.tls != nil
        let names = OwnNames(
            listen.with(port: port), isTLS: isTLS, machine: InternetSocket.machineName,
            given: configuration.names.compactMap { RequestAuthority($0) })
        context = try Self.step(.folder(configuration.folder)) { [journal, configuration] () throws(Errno) in
            try ReceiverContext(configuration, names, journal: journal)
        }
        daemon = try HTTPDaemon(context, gate, listener: listener, threads: configuration.limits.threads)
        url = "\(isTLS ? "https" : "http")://\(listen.with(port: port).reachable.authority)/"
        isForThisMachine = listen.isLoopback
        journal.report(.notice("ready \(url)"))
        if let kept {
            // A log may be read by more people than the file.
            let text = configuration.showsToken ? String(decoding: kept.token, as: UTF8.self) + ", kept" : "is"
            journal.report(.notice("token \(text) in \(SafeText(kept.path).string)"))
        }
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

    private static func keptToken(
        _ access: ReceiverConfiguration.Access, _ port: UInt16
    ) throws(ReceiverError) -> KeptToken? {
        guard case .kept(let state) = access else { return nil }
        do throws(KeptTokenError) { return try KeptToken.load(in: state, port: port) } catch { throw .token(error) }
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
        context.uploads.giveUp()
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

/// The reasons for which a receiver does not start.
package enum ReceiverError: Error, Equatable, CustomStringConvertible {
    case system(Step, Errno)
    /// A folder of ours inside the served one is not this user's alone.
    case hiddenFolder(name: String, PrivacyFailure)
    case token(KeptTokenError)
    /// The message of libmicrohttpd or GnuTLS; empty when there was none.
    case httpLibrary(String)

    package enum Step: Equatable, Sendable {
        case starting
        case folder([UInt8])
        case listening(ListenAddress)
        case reading([UInt8])
    }

    /// The problem and its remedy, for a person.
    package var description: String {
        switch self {
        case .system(.starting, let error): "cannot start: \(error)"
        case .system(.folder(let path), .noSuchFile):
            "there is no folder \(SafeText(path).string): make it first"
        case .system(.folder(let path), let error):
            "cannot use the folder \(SafeText(path).string): \(error)"
        case .system(.listening(let address), .addressInUse):
            "cannot listen on \(address.authority): it is in use: choose another port with --listen"
        case .system(.reading(let path), let error): "cannot read \(SafeText(path).string): \(error)"
        case .system(.listening(let address), let error): "cannot listen on \(address.authority): \(error)"
        case .hiddenFolder(let name, let failure):
            "cannot use \(name) in the folder, \(failure): remove it, or serve another folder"
        case .token(let error):
            "cannot keep a token in \(SafeText(error.path).string), \(error.failure): "
                + "mend that, or give --token-file FILE, or --open to let anybody in"
        case .httpLibrary(let text):
            "the HTTP library does not start: " + (text.isEmpty ? "it does not say why" : SafeText(text).string)
        }
    }
}
