package import TransferModel

/// The state of one part of a file that its protocol sends in several.
package struct PartStanding: Hashable, Sendable {
    package var state: PartRun.State
    /// Its length.
    package var bytes: Int64
    /// Bytes that the server has of it.
    package var held: Int64
    /// The exchange that carries its next bytes now; how many it has sent the engine knows.
    package var exchange: ExchangeID?

    package init(_ state: PartRun.State, bytes: Int64, held: Int64 = 0, exchange: ExchangeID? = nil) {
        self.state = state
        self.bytes = bytes
        self.held = held
        self.exchange = exchange
    }
}

extension TusUpload {
    package var partStandings: [PartStanding] {
        guard parts.count > 1 else { return [] }
        return parts.map { part in
            switch part.state {
            case .full: PartStanding(.completed, bytes: part.length, held: part.length)
            case .creating(let id, _), .appending(let id, _):
                PartStanding(.running, bytes: part.length, held: part.held, exchange: id)
            case .hashing: PartStanding(.running, bytes: part.length, held: part.held)
            case .unmade, .unknown, .asking, .resting, .standing, .stopped:
                PartStanding(.waiting, bytes: part.length, held: part.held)
            }
        }
    }
}

extension S3Upload {
    package var partStandings: [PartStanding] {
        guard upload != nil, parts.parts.count > 1 else { return [] }
        return parts.parts.enumerated().map { index, part in
            let bytes = Int64(parts.range(index).count)
            return switch part {
            case .missing, .hashing, .ready: PartStanding(.waiting, bytes: bytes)
            case .sending(let id, _, _): PartStanding(.running, bytes: bytes, exchange: id)
            case .stored, .checking: PartStanding(.completed, bytes: bytes, held: bytes)
            }
        }
    }
}

extension NextcloudUpload {
    package var partStandings: [PartStanding] {
        guard place != nil, count > 1 else { return [] }
        let flying = Dictionary(inFlight.map { ($0.value, $0.key) }, uniquingKeysWith: { first, _ in first })
        return (1...count).map { number in
            let bytes = Int64(range(number).count)
            if stored.contains(number) { return PartStanding(.completed, bytes: bytes, held: bytes) }
            guard let id = flying[number] else { return PartStanding(.waiting, bytes: bytes) }
            return PartStanding(.running, bytes: bytes, exchange: id)
        }
    }
}

extension NegotiatedUpload {
    package var partStandings: [PartStanding] { chosen?.partStandings ?? [] }
}
