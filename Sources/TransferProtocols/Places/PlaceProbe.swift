import TransferModel

/// Asks a place whether it can be used: logs in, looks at the folder, and reads what the server says of itself. Nothing
/// is written there.
package typealias PlaceProbe = Inquiry<PlaceFindings>

/// The server's answers to the question whether a place can be used; `nil` where it did not tell.
package struct PlaceFindings: Hashable, Sendable {
    package var protocolName: String?
    package var exists: Bool?
    package var writable: Bool?
    package var freeBytes: Int64?

    package init() {}
}

extension Inquiry where Found == PlaceFindings {
    package init(_ inquirer: any Inquirer<PlaceFindings>) { self.init(inquirer, found: PlaceFindings()) }
}
