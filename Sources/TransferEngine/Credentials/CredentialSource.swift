import Glibc
import LinuxSystem
import TransferModel

/// Fetches what opens a server: a command's output or a netrc file. Blocks: on a worker.
enum CredentialSource {
    enum Found: Sendable {
        case user(String, password: String)
        case netrc(Netrc)
        case s3(S3Keys)
        case failed(TransferError)
        /// No descriptor was left to run the command or open the file; it says nothing of the credentials.
        case notNow
    }

    /// Begins to fetch what opens a server.
    static func question(_ secrets: TransferSecrets) -> CredentialState.Question { Task { await find(secrets) } }

    /// As `fetch`, beside everything else: a command may take as long as a person who is asked for a password.
    static func find(_ secrets: TransferSecrets) async -> Found {
        do throws(Errno) {
            let found: Result<Found, Errno> = try await BlockingWorker.alone("credentials") {
                Result { () throws(Errno) in try fetch(secrets) }
            }
            return try found.get()
        } catch {
            if error.isShortage { return .notNow }
            return .failed(cannot("what lets it in", "cannot be asked for (\(error))"))
        }
    }

    /// Fetches the credentials; those with a control character are refused, since a line end would be a command at the server.
    static func fetch(_ secrets: TransferSecrets, within patience: Duration = CommandOutput.patience) throws(Errno)
        -> Found
    {
        let found = try read(secrets, patience)
        let isRefused =
            switch found {
            case .user(let user, let password): user.hasControl || password.hasControl
            case .s3(let keys): keys.refusal != nil
            case .netrc(let netrc): netrc.hasControl
            case .failed, .notNow: false
            }
        return isRefused ? .failed(cannot("the netrc file or password command", "gives a control character")) : found
    }

    private static func read(_ secrets: TransferSecrets, _ patience: Duration) throws(Errno) -> Found {
        switch secrets.source {
        case .nothing, .keys: return .user("", password: "")
        case .typed(let user, let password): return .user(user ?? "", password: password ?? "")
        case .command(let command): return try run(command, user: secrets.user ?? "", patience)
        case .netrcFile(let file): return try read(file)
        case .keyProgram(let words): return try run(words, secrets.s3Environment, patience)
        }
    }

    private static func read(_ file: RawPath) throws(Errno) -> Found {
        do throws(Errno) {
            guard let bytes = try contents(file) else {
                return .failed(
                    TransferError(
                        .permissionDenied,
                        "\(file.displayed) is larger than 1 MiB, the most that is read of a netrc file",
                        .thenRetry("remove everything but the logins")))
            }
            return .netrc(Netrc(String(decoding: bytes, as: UTF8.self)))
        } catch {
            if error.isShortage { throw error }
            return .failed(
                TransferError(.permissionDenied, "\(file.displayed) cannot be read (\(error))", .andRetry("mend it")))
        }
    }

    private static let mostBytes = 1 << 20

    /// The bytes of a netrc file; `nil`: it is too large for one, and a part of it might lack the login that is looked for.
    private static func contents(_ file: RawPath) throws(Errno) -> [UInt8]? {
        let opened = try System.open(file.bytes, flags: O_RDONLY | O_NONBLOCK)
        var bytes = [UInt8](repeating: 0, count: mostBytes + 1)
        var failure: Errno?
        let count = bytes.withUnsafeMutableBytes { buffer -> Int in
            do throws(Errno) {
                return try System.preadAll(opened.rawValue, buffer, at: 0)
            } catch {
                failure = error
                return 0
            }
        }
        if let failure { throw failure }
        return count > mostBytes ? nil : Array(bytes[..<count])
    }

    /// The first line of what the command prints.
    private static func run(_ command: String, user: String, _ patience: Duration) throws(Errno) -> Found {
        let shell = ChildProgram(
            "/bin/sh", ["-c", command],
            environment: environment(ownVariables))
        let name = "the password command"
        switch try output(of: shell, name, patience) {
        case .success(let bytes):
            let line = bytes.prefix { $0 != 10 && $0 != 13 }
            guard let password = String(validating: line, as: UTF8.self) else {
                return .failed(cannot(name, "prints a password that is not UTF-8"))
            }
            return .user(user, password: password)
        case .failure(let error): return .failed(error)
        }
    }

    /// The keys that a program of an AWS profile prints.
    private static func run(
        _ words: [String], _ given: [String: String], _ patience: Duration
    ) throws(Errno) -> Found {
        let name = "credential_process of the AWS profile"
        let environment =
            given.isEmpty
            ? environment(ownVariables) : given.map { "\($0)=\($1)" } + environment(S3Keys.sessionVariables)
        let program = ChildProgram(words[0], Array(words.dropFirst()), environment: environment)
        switch try output(of: program, name, patience) {
        case .success(let bytes):
            return S3Keys(processOutput: bytes).map { .s3($0) } ?? .failed(cannot(name, "does not print keys"))
        case .failure(let error): return .failed(error)
        }
    }

    private static func output(
        of program: ChildProgram, _ name: String, _ patience: Duration
    ) throws(Errno) -> Result<[UInt8], TransferError> {
        do throws(Errno) {
            switch try CommandOutput.read(of: program, within: patience) {
            case .printed(let bytes): return .success(bytes)
            case .failed: return .failure(cannot(name, "failed"))
            case .endless: return .failure(cannot(name, "does not end"))
            }
        } catch {
            if error.isShortage { throw error }
            return .failure(cannot(name, "cannot be run (\(error))"))
        }
    }

    private static func cannot(_ name: String, _ why: String) -> TransferError {
        TransferError(.permissionDenied, "\(name) \(why)", .andRetry("mend it"))
    }

    private static let ownVariables = ["HOME", "USER", "PATH", "LANG", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"]

    private static func environment(_ names: [String]) -> [String] {
        names.compactMap { name in
            System.environment(name).map { "\(name)=\(String(decoding: $0, as: UTF8.self))" }
        }
    }
}
