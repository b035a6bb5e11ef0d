import TransferModel

/// Goes on from what an earlier attempt left, once it is known to be ours and does not move any more.
extension FTPUpload {
    mutating func measured(_ end: FTPEnd) -> [ProtocolAction] {
        if let size = end.size {
            if size > 0, isStraight {
                guard plan.subject.ifExists == .replace || point.owned?.covers(size) == true else {
                    let why = "it cannot rename files, and nothing tells whether what is there is ours"
                    return over(.fail(.unsure(at: plan.host, why)))
                }
                point.owned = .written
            }
            if size > 0, size < plan.subject.size, facts.cannotResume != true {
                state = .settling(nil, last: size, round: 1)
                return [.wake(.probeAgain, after: .milliseconds(250))]
            }
            return stands(at: size)
        }
        if end.isMissing {
            if isStraight { look(end) }
            if point.publishing { return ask(plan.path) { .proving($0, isTarget: true, .earlier) } }
            let wasThere = point.seen > 0
            return (wasThere ? [.startOver(reason: "the temporary file is not there any more")] : []) + fresh()
        }
        if end.isUnknownCommand { return startOver("the server does not tell how much it has") }
        return stop(end)
    }

    mutating func settled(_ end: FTPEnd, _ last: Int64, _ round: Int) -> [ProtocolAction] {
        guard let size = end.size else { return end.isMissing ? measured(end) : stop(end) }
        // A minute: a server that is still at it by then reads from a line that is not quite dead.
        if size != last, size < plan.subject.size, round < 120 {
            state = .settling(nil, last: size, round: round + 1)
            return [.wake(.probeAgain, after: .milliseconds(500))]
        }
        return stands(at: size)
    }

    /// The server has so much of the temporary file, and it does not move.
    private mutating func stands(at size: Int64) -> [ProtocolAction] {
        if size > plan.subject.size { return startOver("the temporary file is longer than the source") }
        if size == 0, plan.subject.size > 0 { return own() + send(0..<plan.subject.size) }
        if size == plan.subject.size { return [.resumed(at: size)] + whole() }
        if facts.cannotResume == true { return startOver("the server cannot go on in the middle") }
        return [.resumed(at: size)] + goOn(at: size)
    }

    /// Under the final name an empty file is taken for ours, like none.
    private mutating func own() -> [ProtocolAction] {
        guard isStraight, point.owned == nil else { return [] }
        point.owned = .free(upTo: plan.subject.size)
        return [.persist(ResumePoint(point))]
    }

    mutating func goOn(at size: Int64) -> [ProtocolAction] {
        // Nothing came of the last attempt. A server whose disk is full may break the line off, and is heard on it only when all that it
        // was sent fits into the pipes.
        let isStuck = size > 0 && point.seen == size
        let end = isStuck ? min(plan.subject.size, size + Self.question) : plan.subject.size
        accepted = size
        point.seen = size
        return [.accepted(size), .persist(ResumePoint(point))] + send(size..<end)
    }

    /// Bytes that are sent to hear what the server says.
    private static let question: Int64 = 4096
}
