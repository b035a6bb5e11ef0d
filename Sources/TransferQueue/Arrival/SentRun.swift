package import TransferModel

/// The run of a task that sent a file. Whatever the task sends later is another run's, so this alone tells whether a finding is still about
/// the file that was sent; times are moved when the clock jumps.
package struct SentRun: Sendable, Hashable {
    package var task: TaskID
    package var run: Int64
    package var finishedAt: Timestamp

    package init(_ task: TaskID, run: Int64, finishedAt: Timestamp) {
        (self.task, self.run, self.finishedAt) = (task, run, finishedAt)
    }
}
