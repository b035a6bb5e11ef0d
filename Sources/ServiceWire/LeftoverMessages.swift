package import TransferModel

/// Parameters of `leftovers.list`.
package struct LeftoversRequest: Codable, Hashable, Sendable {
    /// A `next` of an earlier answer.
    package var after: TaskID?
    /// 1…500, default 500.
    package var limit: Int?
    package init(after: TaskID? = nil, limit: Int? = nil) {
        self.after = after
        self.limit = limit
    }
}

/// Answer of `leftovers.list`, in the order of the tasks' numbers.
package struct LeftoverList: Codable, Hashable, Sendable {
    package var leftovers: [Leftover]
    /// The `after` of the next page; `null`: this was the last.
    @OrNull package var next: TaskID?
    package init(leftovers: [Leftover], next: TaskID?) {
        self.leftovers = leftovers
        _next = OrNull(wrappedValue: next)
    }
}

/// Parameters of `leftovers.abort`: tasks that are over. Answered when their servers have.
package struct LeftoversAbortRequest: Codable, Hashable, Sendable {
    package var tasks: [TaskID]
    /// Says nothing to the servers: what is there stays, and is not known any more.
    package var forget: Bool?
    package init(tasks: [TaskID], forget: Bool? = nil) {
        self.tasks = tasks
        self.forget = forget
    }
}

/// Parameters of `leftovers.search`: what was begun in a bucket and not finished, by whomever. Answered when the service has.
package struct LeftoverSearchRequest: Codable, Hashable, Sendable {
    /// `s3://bucket/prefix`.
    package var url: String
    package var s3: S3Place?
    /// `nil`: those that are kept for `destination`.
    package var keys: S3Keys?
    /// A configured server whose keys the engine has.
    package var destination: String?
    /// IDs of uploads among those found that are to be taken away.
    package var abort: [String]?
    package init(
        url: String, s3: S3Place?, keys: S3Keys?, destination: String? = nil, abort: [String]? = nil
    ) {
        self.url = url
        self.s3 = s3
        self.keys = keys
        self.destination = destination
        self.abort = abort
    }
}

/// Answer of `leftovers.search`, in the order of the service.
package struct LeftoverSearchAnswer: Codable, Hashable, Sendable {
    package var uploads: [BucketUpload]
    /// True: there may be more of them than an answer tells; a longer prefix finds them.
    package var more: Bool?
    package init(uploads: [BucketUpload], more: Bool? = nil) {
        self.uploads = uploads
        self.more = more
    }
}
