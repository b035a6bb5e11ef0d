package import Configuration
import LinuxSystem
package import TransferModel

/// The keeper of the logins of configured servers: the engine. ``EngineConnection`` is the one that asks it; a test brings a fake.
package protocol LoginKeeper: Sendable {
    func keepLogin(
        _ secrets: TransferSecrets, of destination: String, at url: String, s3: S3Place?
    ) async throws(RequestError)
    func forgetLogin(of destination: String) async throws(RequestError) -> Bool
    func restoreLogin(of destination: String) async throws(RequestError) -> Bool
}

extension EngineConnection: LoginKeeper {}

/// Adding, removing and restoring configured servers, for the commands and the screen alike.
///
/// A server has a section of `destinations.conf` and perhaps a login that the engine keeps. The login of a section that is there is
/// changed first: where the engine cannot be reached nothing has happened, and the same can be asked again. Where the file cannot be
/// written then, the login is put back; only of two logins with one name the engine keeps the later one, and says so. A new name gets its
/// section first. A kill or a power cut in between leaves a section whose login is gone, can be had again or is for another server, which
/// the engine finds out; never a login without a section, which nobody would ever remove.
///
/// Several clients may do so at once. Each change holds the file's lock from the decision (there is one of that name already) to the last
/// byte, the engine's answers in between included.
package struct DestinationChanges: Sendable {
    private let path: String
    private let logins: any LoginKeeper
    private let surroundings: S3Surroundings
    private let now: @Sendable () -> Int64
    /// The threads that wait for the disk; `nil`: the caller waits.
    private let files: LocalFiles?
    /// Number of tries for a lock that another client has.
    private let tries: Int

    /// - Parameters:
    ///   - path: of `destinations.conf`.
    ///   - environment: as `DestinationBook` has it.
    ///   - now: milliseconds since 1970.
    package init(
        _ path: String, logins: any LoginKeeper, environment: [String: String], files: LocalFiles? = nil,
        tries: Int = FileLock.patience, now: @escaping @Sendable () -> Int64
    ) {
        (self.path, self.logins, self.files, self.tries, self.now) = (path, logins, files, tries, now)
        surroundings = S3Surroundings(environment)
    }

    /// Configures a server.
    /// - Parameters:
    ///   - password: that the engine is to keep; with none, a login that was kept for the name is forgotten.
    ///   - replaces: whether it may take the place of one of the same name.
    ///   - read: the section that the new one was made of; another one there by now is refused. `nil`: whatever is there.
    /// - Returns: the file as it is now.
    @discardableResult
    package func add(
        _ described: Destination, password: String?, replaces: Bool = false, read: Destination? = nil
    ) async throws(RequestError) -> DestinationsFile {
        try await locked { () async throws(RequestError) in
            try await addLocked(described, password: password, replaces: replaces, read: read)
        }
    }

    /// Somebody may have changed the section while a person was typing: what is made of an older one would undo that.
    private static func check(_ file: DestinationsFile, is read: Destination?) throws(RequestError) {
        guard let read else { return }
        try checkLines(file, of: read.name)
        if file[read.name] == read { return }
        throw RequestError(
            .refused, "\(read.name) was changed elsewhere meanwhile, so nothing is saved: open it once more")
    }

    /// A section is written anew from what was understood of it: a line that does not count would be gone, and with it what was meant.
    private static func checkLines(_ file: DestinationsFile, of name: String) throws(RequestError) {
        guard let fault = file.faults[name] else { return }
        throw RequestError(
            .refused,
            "nothing is changed, as a line of \(name) would be lost: \(fault.description(file: "destinations.conf")): mend that line first"
        )
    }

    private func addLocked(
        _ described: Destination, password: String?, replaces: Bool, read: Destination? = nil
    ) async throws(RequestError) -> DestinationsFile {
        var destination = described
        destination.login = password == nil ? .none : .kept
        let (added, name) = (destination, destination.name)
        let surroundings = surroundings
        let (file, place) = try await onDisk { disk throws(Errno) in
            (try disk.file, Result { () throws(QueueingFault) in try surroundings.place(of: added) })
        }
        let s3: S3Place?
        do throws(QueueingFault) { s3 = try place.get() } catch { throw RequestError(.usage, error.message) }
        let old = file[name]
        try Self.check(file, is: read)
        guard old == nil || replaces else {
            throw RequestError(.refused, "there is a destination \"\(name)\" by now: remove that one first")
        }
        // What cannot be written is found out before the engine hears of it.
        do { _ = try DestinationsFile(bytes: []).setting(added) } catch {
            throw RequestError(.usage, "\(error.what): \(error.remedy)")
        }
        if let password {
            let secrets = added.kept(password: password)
            if old == nil {
                return try await addNew(added) { () async throws(RequestError) in
                    try await logins.keepLogin(secrets, of: name, at: added.url, s3: s3)
                }
            }
            try await logins.keepLogin(secrets, of: name, at: added.url, s3: s3)
        } else if old?.login == .kept {
            _ = try await logins.forgetLogin(of: name)
        }
        do {
            return try await write(added)
        } catch {
            // The new password must not be shown to the old one's server.
            guard password == nil else {
                _ = try? await logins.forgetLogin(of: name)
                guard old?.login == .kept else { throw error }
                throw RequestError(
                    error.code, "\(error.message); the password of \(name) is forgotten: then add it again")
            }
            if old?.login == .kept { _ = try? await logins.restoreLogin(of: name) }
            throw error
        }
    }

    /// Adds a section, and takes it away again when its login is not kept.
    private func addNew(
        _ added: Destination, keepLogin: () async throws(RequestError) -> Void
    ) async throws(RequestError) -> DestinationsFile {
        let file = try await write(added)
        do throws(RequestError) {
            try await keepLogin()
        } catch {
            let name = added.name
            _ = try? await onDisk { disk throws(Errno) in try disk.write(disk.file.removing(name)) }
            // Only its answer may have been lost.
            _ = try? await logins.forgetLogin(of: name)
            throw error
        }
        return file
    }

    /// Writes a section that was tried before. Returns the file as it is now.
    private func write(_ section: Destination) async throws(RequestError) -> DestinationsFile {
        try await onDisk { disk throws(Errno) in
            if let bytes = try? disk.file.setting(section) { try disk.write(bytes) }
            return try disk.file
        }
    }

    /// Writes another section in the place of one of the same name. A login that the engine keeps stays as long as it is shown to nobody
    /// else: with another host, port or user it is forgotten.
    /// - Parameter read: as `add` has it.
    /// - Returns: the file as it is now, and whether a login was forgotten.
    package func edit(
        _ described: Destination, read: Destination? = nil
    ) async throws(RequestError) -> (file: DestinationsFile, isForgotten: Bool) {
        try await locked { () async throws(RequestError) in try await editLocked(described, read: read) }
    }

    private func editLocked(
        _ described: Destination, read: Destination?
    ) async throws(RequestError) -> (file: DestinationsFile, isForgotten: Bool) {
        let name = described.name
        let file = try await onDisk { disk throws(Errno) in try disk.file }
        guard let old = file[name] else {
            throw RequestError(.noSuchObject, "there is no destination \"\(name)\" any more: describe it anew")
        }
        try Self.checkLines(file, of: name)
        try Self.check(file, is: read)
        let isKept = old.login == .kept
        let stays = isKept && old.user == described.user && old.authority == described.authority
        guard stays else {
            return (try await addLocked(described, password: nil, replaces: true), isKept)
        }
        var destination = described
        destination.login = .kept
        let edited = destination
        do { _ = try DestinationsFile(bytes: []).setting(edited) } catch {
            throw RequestError(.usage, "\(error.what): \(error.remedy)")
        }
        return (try await write(edited), false)
    }

    /// Takes a server out; it can be had again for a day, with its login.
    /// - Returns: the file as it is now; `nil`: there is no such server.
    package func remove(_ name: String) async throws(RequestError) -> DestinationsFile? {
        try await locked { () async throws(RequestError) in try await removeLocked(name) }
    }

    private func removeLocked(_ name: String) async throws(RequestError) -> DestinationsFile? {
        let file = try await onDisk { disk throws(Errno) in try disk.file }
        guard let destination = file[name] else { return nil }
        // It could be had again without that line alone.
        try Self.checkLines(file, of: name)
        let isKept = destination.login == .kept
        if isKept {
            do { _ = try await logins.forgetLogin(of: name) } catch {
                throw RequestError(error.code, "it stays, because its login cannot be forgotten now: \(error.message)")
            }
        }
        do {
            return try await onDisk { disk throws(Errno) in
                _ = try disk.remove(name)
                return try disk.file
            }
        } catch {
            if isKept { _ = try? await logins.restoreLogin(of: name) }
            throw error
        }
    }

    /// A server that was put back.
    package struct Restored: Sendable {
        package let name: String
        package let file: DestinationsFile
        /// It had a login that the engine kept, and has it no more.
        package let loginIsGone: Bool
    }

    /// Puts back what was removed.
    /// - Parameter wanted: `nil`: the last one.
    package func restore(_ wanted: String?) async throws(RequestError) -> Restored {
        try await locked { () async throws(RequestError) in try await restoreLocked(wanted) }
    }

    private func restoreLocked(_ wanted: String?) async throws(RequestError) -> Restored {
        let (found, file) = try await onDisk { disk throws(Errno) in (try disk.restorable(wanted), try disk.file) }
        guard var destination = found else {
            let what = wanted.map { "no destination \"\($0)\"" } ?? "no destination"
            throw RequestError(
                .noSuchObject, "\(what) was removed in the last 24 h: martlet destination add configures one")
        }
        let name = destination.name
        guard file[name] == nil else {
            throw RequestError(
                .refused, "there is another destination \"\(name)\" by now: remove that one first")
        }
        let wasKept = destination.login == .kept
        if wasKept, !(try await logins.restoreLogin(of: name)) { destination.login = .none }
        let restored = destination
        do {
            let file = try await onDisk { disk throws(Errno) in
                try disk.restore(restored)
                return try disk.file
            }
            return Restored(name: name, file: file, loginIsGone: wasKept && restored.login == .none)
        } catch {
            if restored.login == .kept { _ = try? await logins.forgetLogin(of: name) }
            throw error
        }
    }

    /// Does something while no other client changes the file.
    private func locked<Value: Sendable>(
        _ body: () async throws(RequestError) -> Value
    ) async throws(RequestError) -> Value {
        let lock: FileLock
        do throws(Errno) { lock = try await FileLock.wait(for: path, tries: tries) } catch {
            let shown = RawPath(path).displayed
            throw RequestError(
                .refused,
                error == .wouldBlock
                    ? "another martlet is changing destinations.conf: try again when it has ended"
                    : "destinations.conf cannot be written (\(error)): check \(shown)")
        }
        defer { withExtendedLifetime(lock) {} }
        return try await body()
    }

    private func onDisk<Value: Sendable>(
        _ body: @escaping @Sendable (DestinationsOnDisk) throws(Errno) -> Value
    ) async throws(RequestError) -> Value {
        let disk = DestinationsOnDisk(path, now: now())
        let path = path
        let work: @Sendable () -> Result<Value, RequestError> = {
            do throws(Errno) { return .success(try body(disk)) } catch {
                return .failure(
                    RequestError(
                        .refused, "destinations.conf cannot be written (\(error)): check \(RawPath(path).displayed)"))
            }
        }
        guard let files else { return try work().get() }
        return try await files.run(work).get()
    }
}

extension Destination {
    /// Scheme, host and port, as they are written; of S3 also the service.
    fileprivate var authority: [String?] {
        let start = url.firstRange(of: "://")?.upperBound ?? url.startIndex
        let isBucket = TransferScheme(of: url)?.facts.urlNamesNoHost == true
        let server = isBucket ? "" : String(url[start...].prefix { $0 != "/" })
        return [String(url[..<start]), server, endpoint]
    }
}
