import Configuration
import MartletKit

/// The values of the review's fields as long as nobody changes them: those of the repeated batch, else of the configured server, else
/// the usual ones. What is left as it is need not stand in the command.
struct UsualChoices: Sendable {
    var name: String
    var ifExists = ExistingFilePolicy.fail.rawValue
    /// `nil`: the best that the server offers.
    var verify: String?
    /// Bytes a second; `nil`: unlimited.
    var limit: Int64?
    var priority = TransferPriority.normal.rawValue
    var followsLinks = false
    var include: [String] = []
    var exclude: [String] = []

    init(_ work: AddOrder.Work, _ destination: Destination?, _ repeated: RepeatedUpload?, isSameServer: Bool) {
        name = work.proposedName
        ifExists = destination?.ifExists ?? ifExists
        verify = destination?.verify
        limit = destination?.limit?.bytesPerSecond
        guard let order = repeated?.order else { return }
        let options = order.options
        name = order.name?.rawValue ?? name
        ifExists = options.ifExists.rawValue
        verify = options.verify?.rawValue
        // That of a configured server is that server's.
        if isSameServer {
            limit = options.bytesPerSecond
        } else if options.limitOf == nil {
            limit = options.bytesPerSecond ?? limit
        }
        priority = order.priority.rawValue
        (followsLinks, include, exclude) = (options.followLinks, options.include, options.exclude)
    }
}
