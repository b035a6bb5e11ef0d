import LinuxSystem
import TransferModel
import TransferProtocols

/// The caller of a side job, and what the job leaves for it. A value of the attempt.
struct SideJobRun {
    typealias Caller = CheckedContinuation<TransferError?, Never>

    /// Waits for the end of any but a look.
    private var caller: Caller?
    /// The timer for the next look at its pace.
    private var paceTimer: LoopTimer?
    /// The wait that it ended with.
    private(set) var refusal: WaitDemand?
    /// The one who asks once more shows the login in another way, or another one.
    private(set) var mayShowOtherwise = false

    mutating func begin(for caller: Caller) { self.caller = caller }

    /// - Parameter timer: `nil`: it has fired.
    mutating func keepPace(by timer: LoopTimer?) { paceTimer = timer }

    mutating func refused(_ demand: WaitDemand) { refusal = demand }
    mutating func foundOtherWay() { mayShowOtherwise = true }

    /// - Returns: who is to be told of the end, and the timer that is to be cancelled.
    mutating func end() -> (caller: Caller?, timer: LoopTimer?) {
        defer { (caller, paceTimer) = (nil, nil) }
        return (caller, paceTimer)
    }
}
