import MartletKit

/// The last results of asking configured servers on this screen, by name. They outlive the page: a server that failed its test is not well
/// because somebody has looked at another page since.
struct AskedServers: Sendable {
    private(set) var findings: [String: DestinationsPage.TestResult] = [:]
    /// When each of these was found, by the engine's clock.
    private(set) var times: [String: Timestamp] = [:]

    mutating func note(_ outcome: DestinationOutcome, of name: String, at time: Timestamp) {
        switch outcome {
        case .report(let report): findings[name] = .report(report)
        case .failed(let why): findings[name] = .failed(why)
        case .changed, .edited, .restored, .changedMeanwhile: return
        }
        times[name] = time
    }

    mutating func forget(_ name: String) { (findings[name], times[name]) = (nil, nil) }
}
