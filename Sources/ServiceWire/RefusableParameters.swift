import TransferModel

/// Parameters that may hold what can never be meant. Looked at once, where they come in.
package protocol RefusableParameters {
    /// The fault of the parameters; `nil`: none.
    var refusal: String? { get }
}

extension BatchRequest: RefusableParameters {}

/// Parameters that name nodes: so many of them that a person's command line has room for them, and no more.
package protocol NodeNamingParameters: RefusableParameters {
    /// Nodes, rows and tasks that are named one by one.
    var named: Int { get }
}

extension NodeNamingParameters {
    package var refusal: String? { tooMany }

    fileprivate var tooMany: String? {
        named > NodesRequest.mostNamed ? "up to \(NodesRequest.mostNamed) nodes are named at once: name fewer" : nil
    }
}

extension NodesRequest: NodeNamingParameters {
    package static let mostNamed: Int = 100_000
    package var named: Int { (ids?.count ?? 0) + (rows?.count ?? 0) }
}

extension PauseRequest: NodeNamingParameters {
    package var named: Int { nodes.named }
}

extension UndoRequest: NodeNamingParameters {
    package var named: Int { (ids?.count ?? 0) + (rows?.count ?? 0) }
}

extension LeftoversAbortRequest: NodeNamingParameters {
    package var named: Int { tasks.count }
}

/// They are moved together, in the order in which they are named.
extension MoveRequest: RefusableParameters {
    package static let mostNamed: Int = 1000

    package var refusal: String? {
        (ids?.count ?? 0) + (rows?.count ?? 0) > Self.mostNamed
            ? "up to \(Self.mostNamed) nodes are moved at once: name fewer" : nil
    }
}

extension SetRequest: NodeNamingParameters {
    package var named: Int { (ids?.count ?? 0) + (rows?.count ?? 0) }
    package var refusal: String? { tooMany ?? settings.refusal ?? secrets?.givenRefusal }
}

extension DestinationKeepRequest: RefusableParameters {
    package var refusal: String? { secrets.givenRefusal }
}

extension DestinationTestRequest: RefusableParameters {
    package var refusal: String? { options?.refusal ?? secrets?.givenRefusal }
}

extension LeftoverSearchRequest: RefusableParameters {
    package var refusal: String? { keys?.refusal }
}

extension LimitsChange: RefusableParameters {
    package var refusal: String? {
        let rates = [up, down].compactMap(\.self) + (scoped ?? []).map(\.rate)
        return rates.allSatisfy(FileSize.isPossible) ? nil : "a rate is 0 to 2^53 bytes a second"
    }
}
