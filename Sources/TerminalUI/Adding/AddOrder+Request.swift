import Configuration
import MartletKit

/// The surroundings that an order takes over from the process that queues it.
struct AddSurroundings: Sendable {
    var environment: [String: String]
    /// Permission bits that new files of a download do not get.
    var umask: UInt32
    /// Milliseconds since 1970.
    var now: Int64
    var calendar = WallCalendar.ofThisMachine
}

extension AddOrder {
    /// Makes the request to the engine, the same as the command in `words`. Looks at the sources.
    func request(
        _ book: DestinationBook, currentDirectory: [UInt8], _ surroundings: AddSurroundings
    ) throws(QueueingFault) -> BatchRequest {
        let environment = surroundings.environment
        var request: BatchRequest
        switch work {
        case .upload(let sources, let destination):
            let plan = try UploadPlan(
                repeated?.words ?? sources, to: destination, currentDirectory: currentDirectory, destinations: book)
            if let repeated {
                request = try repeated.request(plan, book, environment: environment, password: password)
            } else {
                request = try plan.request(environment: environment, password: password)
            }
        case .download(let urls, let folder):
            let plan = try DownloadPlan(urls, into: RawPath(folder), destinations: book)
            request = try plan.request(environment: environment, password: password)
        }
        request.name = BatchName(rawValue: name) ?? repeated?.order.name
        request.held = start == .held
        request.priority = priority
        request.options.ifExists = ifExists ?? request.options.ifExists
        request.options.verify = verify ?? request.options.verify
        request.options.followLinks = followLinks
        request.options.include = include
        request.options.exclude = exclude
        if let limit { (request.options.bytesPerSecond, request.options.limitOf) = (limit.bytesPerSecond, nil) }
        if case .at(let text) = start, let time = WrittenTime(text) {
            request.options.notBefore = Timestamp(
                milliseconds: time.milliseconds(now: surroundings.now, calendar: surroundings.calendar))
        }
        request.options.umask = surroundings.umask
        request.options.sshCommand = request.options.sshCommand ?? environment["MARTLET_SSH_COMMAND"]
        return request
    }
}
