package import TransferModel

/// Table of the last look: which folders at servers are to be listed once more, and what was found there.
///
/// A folder has a row from the first of its files that is completed on; single files have none. What a look finds missing becomes a
/// failure of its task, in a run of its own: the run that completed has told its end.
enum LastLookSchema {
    static let script = """
        -- The look at a folder at the server after its last file: one row for each folder, nothing for a file.
        CREATE TABLE last_looks (
            folder INTEGER PRIMARY KEY,
            batch INTEGER NOT NULL,
            due INTEGER NOT NULL,            -- counts groups of files that were completed; negative, once the folder was looked at since
            looked_at INTEGER,               -- when the server last listed all of the folder
            listed INTEGER NOT NULL,         -- files that were found there then
            files INTEGER NOT NULL,          -- files that were looked for then
            error TEXT                       -- JSON; why the folder could not be listed
        );
        CREATE INDEX last_looks_of_batch ON last_looks (batch, folder);
        -- What servers call the versions that they stored: only of files of which they said it.
        CREATE TABLE remote_versions (
            task INTEGER PRIMARY KEY,
            etag TEXT NOT NULL
        );
        CREATE INDEX last_looks_due ON last_looks (batch, folder) WHERE due > 0;
        """
}

/// A folder at a server that is to be listed.
package struct DueLook: Sendable, Hashable {
    package var folder: FolderID
    package var batch: BatchID
    /// As `LaneSummary.origin`.
    package var origin: String
    /// Below the batch's destination; empty: the destination itself.
    package var remote: RawPath
    /// The batch is one file that goes to exactly the destination's URL: the folder is the one that this lies in.
    package var isExact: Bool
    /// Number of the request for this look, from 1 on: a file that is completed meanwhile asks for another. 0: a person asked.
    package var due: Int64

    package init(folder: FolderID, batch: BatchID, origin: String, remote: RawPath, isExact: Bool, due: Int64) {
        self.folder = folder
        self.batch = batch
        self.origin = origin
        self.remote = remote
        self.isExact = isExact
        self.due = due
    }
}

/// A look at a folder that has ended, with its outcome.
package struct EndedLook: Sendable, Hashable {
    package enum Outcome: Sendable, Hashable {
        /// The server listed all of it. `listed` of `files` were there.
        case looked(at: Timestamp, listed: Int64, files: Int64)
        /// It does not list it, for this reason.
        case unlisted(TransferError)
    }
    package var look: DueLook
    package var outcome: Outcome

    package init(_ look: DueLook, _ outcome: Outcome) {
        self.look = look
        self.outcome = outcome
    }
}

/// A completed file that is not at the server, or not as it was sent.
package struct AbsentFile: Sendable, Hashable {
    package var sent: SentRun
    package var error: TransferError
    /// Another file lies there; else nothing does.
    package var isOther: Bool

    package init(_ sent: SentRun, error: TransferError, isOther: Bool = false) {
        self.sent = sent
        self.error = error
        self.isOther = isOther
    }
}

/// Looks that are due and cannot be made now. Each folder costs the question a little; of batches and servers there are few.
package struct LooksNotNow: Sendable {
    package var folders: Set<FolderID>
    package var batches: Set<BatchID>
    /// Origins of servers.
    package var origins: Set<String>

    package init(folders: Set<FolderID> = [], batches: Set<BatchID> = [], origins: Set<String> = []) {
        (self.folders, self.batches, self.origins) = (folders, batches, origins)
    }
}

extension QueueWriter {
    /// Folders whose files are all over and of which some were completed since the last look, the more urgent batches first.
    package func dueLooks(besides: LooksNotNow, limit: Int, now: Timestamp) throws(QueueError) -> [DueLook] {
        try look { try store.looks.dueLooks(besides: besides, limit: limit, now: now) }
    }

    /// Takes in what looks found; their batches may be over with it.
    package func end(looks: [EndedLook]) throws(QueueError) {
        try change { try store.looks.end(looks: looks) }
    }

    /// Completed tasks fail in a run of their own. Those that something has happened to meanwhile are left alone.
    /// - Parameters:
    ///   - look: in which they were found missing; nothing happens when files were completed since it began.
    ///   - otherLies: makes the resume point that the retry of a file begins with in whose place another one lies, of the one that it has.
    /// - Returns: those that failed.
    @discardableResult
    package func fail(
        absent: [AbsentFile], in look: DueLook? = nil, otherLies: @escaping @Sendable ([UInt8]?) -> [UInt8]
    ) throws(QueueError) -> [TaskID] {
        try change { try store.arrival.fail(absent: absent, in: look, otherLies: otherLies) }
    }
}
