import LinuxSystem
import TransferModel
import TransferProtocols

/// The tokens that receivers of this user on this machine keep for us, by their ports: what lets in where a batch brings no login of its
/// own. Read from files that are this user's alone, when a request needs one. On the engine's loop; a file is a line, on a local disk.
final class ReceiverTokens {
    private struct Known {
        /// `nil`: there was none.
        let token: String?
        let readAt: MonotonicInstant
    }

    /// The folder with the tokens' folder in it; `nil`: there are none.
    private let state: RawPath?
    private var known: [Int: Known] = [:]

    init(in state: RawPath?) { self.state = state }

    /// The token for a server; `nil` when it is not on this machine or has left none.
    func token(for address: HTTPAddress) -> String? {
        guard state != nil, Self.isHere(address) else { return nil }
        if let last = known[address.port], last.readAt.duration(to: .now) < Self.patience { return last.token }
        return read(address.port)
    }

    /// After a refusal: whether the receiver keeps another token than it did.
    func isRenewed(for address: HTTPAddress) -> Bool {
        guard state != nil, Self.isHere(address) else { return false }
        let before = known[address.port]?.token
        guard let now = read(address.port) else { return false }
        return now != before
    }

    /// Time for which a token, or that there is none, holds without another look.
    private static let patience = Duration.seconds(1)

    private func read(_ port: Int) -> String? {
        guard let state, let number = UInt16(exactly: port) else { return nil }
        let token = Self.read(number, in: state)
        known[port] = Known(token: token, readAt: .now)
        return token
    }

    private static func read(_ port: UInt16, in state: RawPath) -> String? {
        guard let folder = try? System.openPrivateFolder(state.bytes),
            let kept = try? System.openPrivateFolder(Array(ReceiverToken.folderName.utf8), at: folder.rawValue),
            let file = try? System.openPrivateFile(
                Array(ReceiverToken.fileName(port: port).utf8), at: kept.rawValue)
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = try? bytes.withUnsafeMutableBytes { try System.preadAll(file.rawValue, $0, at: 0) }
        return count.flatMap { ReceiverToken.token(in: bytes[..<$0]) }.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns true when a URL names this machine as only programs on it can reach it: `localhost` or a loopback address.
    static func isHere(_ address: HTTPAddress) -> Bool {
        if address.host == "localhost" { return true }
        let host = address.host.hasPrefix("[") ? String(address.host.dropFirst().dropLast()) : address.host
        return InternetSocket.bytes(ofAddress: host).map(InternetSocket.isLoopback) ?? false
    }
}
