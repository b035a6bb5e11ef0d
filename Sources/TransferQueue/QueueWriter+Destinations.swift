package import TransferModel

/// The logins of configured servers, beside those of batches in the store of secrets.
extension QueueWriter {
    /// Keeps one, in the place of an earlier one of that name. Durable on return.
    package func keep(_ secrets: TransferSecrets, destination name: String) throws(QueueError) {
        try look { try store.secrets.keep(secrets, destination: name) }
    }

    /// `nil`: none is kept.
    package func secrets(destination name: String) throws(QueueError) -> TransferSecrets? {
        try look { try store.secrets.secrets(destination: name) }
    }

    /// Whether there was one. Batches that are queued keep their own. It can be had again for a day.
    /// - Parameter now: milliseconds since 1970.
    package func forget(destination name: String, at now: Int64) throws(QueueError) -> Bool {
        try look { try store.secrets.forget(destination: name, at: now) }
    }

    /// Whether what was forgotten is there again. One that was kept since is not replaced.
    package func restore(destination name: String, at now: Int64) throws(QueueError) -> Bool {
        try look { try store.secrets.restore(destination: name, at: now) }
    }
}
