/// A lane's number: one batch and one host. Tasks of a lane are claimed in their order.
package struct LaneID: RawRepresentable, Hashable, Comparable, Sendable {
    package var rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    package static func < (one: LaneID, other: LaneID) -> Bool { one.rawValue < other.rawValue }
}

/// The number of a source of an upload batch: a file or directory that was named when it was queued.
package struct SourceID: RawRepresentable, Hashable, Comparable, Sendable {
    package var rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    package static func < (one: SourceID, other: SourceID) -> Bool { one.rawValue < other.rawValue }
}
