/// A stored fact with its place in the log: what `martlet events` prints as JSON.
public struct TransferEvent: Codable, Hashable, Sendable {
    public var seq: EventSequence
    public var at: Timestamp
    @OrNull public var session: SessionName?
    @OrNull public var batch: BatchID?
    @OrNull public var task: TaskID?
    public var type: TransferEventType
    public var payload: EventPayload

    public init(
        seq: EventSequence, at: Timestamp, session: SessionName?, batch: BatchID?, task: TaskID?,
        type: TransferEventType,
        payload: EventPayload
    ) {
        self.seq = seq
        self.at = at
        _session = OrNull(wrappedValue: session)
        _batch = OrNull(wrappedValue: batch)
        _task = OrNull(wrappedValue: task)
        self.type = type
        self.payload = payload
    }
}

/// The kinds of events. The order is part of the queue's schema: append only.
public enum TransferEventType: String, Codable, Sendable, CaseIterable {
    case batchQueued, batchScanned, batchFinished
    case taskCompleted, taskFailed, taskCancelled
    case waiting, resumedAtOffset, restarted, paused, resumed, responseReceived, sessionIdle, engineStarted
}

/// The details of an event; fields that do not belong to its type are left out.
public struct EventPayload: Codable, Hashable, Sendable {
    public var bytes: Int64?
    public var offset: Int64?
    public var skipped: Bool?
    public var verified: Verification?
    public var digest: TransferDigest?
    public var finalPath: String?
    public var finalPathBase64: String?
    public var error: TransferError?
    public var waitReasons: [WaitReason]?
    public var retryAt: Timestamp?
    public var status: Int?
    public var filesTotal: Int64?
    public var filesFailed: Int64?
    public var state: TransferState?
    /// The reason, for a person; harmless to print.
    public var message: String?
    public init() {}
}
