import MartletKit

/// Commands that a batch alone makes whole; the raw value is what can be typed.
enum BatchCommand: String, CaseIterable, Sendable {
    case pause, resume, cancel, retry
    case runNow = "run-now"
    case verify

    var verb: String {
        switch self {
        case .pause: "Pause"
        case .resume: "Resume"
        case .cancel: "Cancel"
        case .retry: "Retry"
        case .runNow: "Run now"
        case .verify: "Verify"
        }
    }
}
