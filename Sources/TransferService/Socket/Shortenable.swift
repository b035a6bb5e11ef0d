import ServiceWire
import TransferModel

/// A list that can be told in part when all of it is longer than a line may be. Whoever wants the rest asks for it, or sees by a total that
/// there is more.
protocol Shortenable {
    /// Leaves the second half out; false when there is nothing that could be.
    mutating func shorten() -> Bool
}

extension Shortenable {
    /// The line with as much as fits. `line`: makes it.
    func line(by line: (Self) throws -> [UInt8]) throws -> [UInt8] { try fitted(by: line).line }

    /// The same, and as much as is in it.
    func fitted(by line: (Self) throws -> [UInt8]) throws -> (line: [UInt8], part: Self) {
        var part = self
        while true {
            let made = try line(part)
            guard made.count > ServiceClient.longestLine, part.shorten() else { return (made, part) }
        }
    }
}

extension Array {
    fileprivate mutating func halve() -> Bool {
        guard count > 1 else { return false }
        removeLast(count / 2)
        return true
    }
}

extension BatchPage: Shortenable {
    mutating func shorten() -> Bool { batches.halve() }
}

extension TaskPage: Shortenable {
    mutating func shorten() -> Bool {
        guard tasks.halve() else { return false }
        next = tasks.last?.id
        return true
    }
}

extension EventPage: Shortenable {
    mutating func shorten() -> Bool {
        guard events.halve(), let last = events.last else { return false }
        next = last.seq
        return true
    }
}

extension LeftoverList: Shortenable {
    mutating func shorten() -> Bool {
        guard leftovers.halve() else { return false }
        next = leftovers.last?.task
        return true
    }
}

extension SectionRead: Shortenable {
    mutating func shorten() -> Bool { section.rows.halve() }
}

extension ViewChange: Shortenable {
    mutating func shorten() -> Bool {
        let longest = sections.indices.max { sections[$0].rows.count < sections[$1].rows.count }
        if let longest, sections[longest].rows.halve() { return true }
        return nodes.halve()
    }
}
