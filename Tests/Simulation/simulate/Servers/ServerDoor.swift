import TransferModel

/// The way into a model server that speaks HTTP: its login, and what it says no with now and then.
///
/// As servers that are overloaded, behind a login that has run out, locked by somebody, or full.
final class ServerDoor {
    /// The key that each request must show: as `Authorization: Bearer KEY`, or as the ID of an S3 key. `nil`: everybody is let in.
    private(set) var key: String?
    private var keys = 0
    private let host: String
    private let network: Network

    init(_ disk: ServerDisk, _ network: Network) {
        host = disk.host
        self.network = network
    }

    /// Has the server ask for a key from now on, another one each time. Whoever has the old one is refused.
    func changeKey() {
        keys += 1
        key = "key\(keys)"
        network.world.tell(host, "lets in who has \(key ?? "") alone")
    }

    /// A request that is not let in, or that finds the server unable to serve it.
    func refusal(_ request: ServedRequest) -> ServedAnswer? {
        if let key, request.fields["authorization"] != "Bearer \(key)" { return Self.unauthorized }
        guard network.weather.strikes(oneIn: 40) else { return nil }
        switch network.weather.chance.below(8) {
        case 0: return Self.unauthorized
        case 1: return ServedAnswer(403)
        case 2: return ServedAnswer(409)
        case 3: return ServedAnswer(423)
        case 4: return ServedAnswer(507)
        case 5: return ServedAnswer(503, [("Retry-After", "\(network.weather.chance.below(120))")])
        case 6: return ServedAnswer(502)
        default: return ServedAnswer(500)
        }
    }

    private static var unauthorized: ServedAnswer { ServedAnswer(401, [("WWW-Authenticate", "Basic realm=\"files\"")]) }
}
