import Glibc
import LinuxSystem
import TestSupport
import TransferModel
import WireOperations

@testable import SSHTransport

/// A real sshd on loopback, with its own keys; stopped with the test.
final class SSHServer {
    private let folder: Sandbox

    init(_ environment: [String] = []) async throws {
        folder = try Sandbox("martlet-sshd")
        let output = try await run(["start", folderPath, "0"], environment)
        if !output.hasPrefix("ready ") { throw NotReady(output: output) }
    }

    struct NotReady: Error { let output: String }

    var folderPath: String { String(decoding: folder.path, as: UTF8.self) }
    var data: String { folderPath + "/data" }

    /// Our client's way to it, with more options of ssh.
    func target(_ options: String...) -> SSHTarget {
        let words = ["ssh", "-F", folderPath + "/ssh_config"] + options
        return SSHTarget(command: words.map { Array($0.utf8) }, host: "there")
    }

    func read(_ name: String) -> [UInt8]? { folder.read(name) }
    func write(_ name: String, _ text: String) throws { try folder.write(name, Array(text.utf8)) }

    /// Another key that is let in, under a passphrase.
    func lockKey(_ name: String, _ passphrase: String) async throws {
        let key = folderPath + "/keys/" + name
        _ = try await Self.perform(
            "/usr/bin/ssh-keygen", ["-q", "-t", "ed25519", "-N", passphrase, "-C", "throwaway", "-f", key], [])
        let own = try System.open(Array((key + ".pub").utf8))
        let keys = folder.read("keys/authorized_keys") ?? []
        var line = [UInt8](repeating: 0, count: 4096)
        let read = line.withUnsafeMutableBytes { buffer in
            Result { () throws(Errno) in try System.preadAll(own.rawValue, buffer, at: 0) }
        }
        try folder.write("keys/authorized_keys", keys + line[..<(try read.get())])
    }

    func crash() async throws { _ = try await run(["crash", folderPath]) }

    func stop() async { _ = try? await run(["stop", folderPath]) }

    private func run(_ words: [String], _ environment: [String] = []) async throws -> String {
        try await Self.perform(Checkout.server("sshd-sftp"), words, environment)
    }

    private static func perform(_ path: String, _ words: [String], _ environment: [String]) async throws -> String {
        let worker = try BlockingWorker(name: "sshd-script")
        defer { worker.stop() }
        return try await worker.run { () throws(Errno) -> String in
            let pipe = try System.pipe()
            let kept = ["PATH", "HOME", "USER"].compactMap { name in
                System.environment(name).map { name + "=" + String(decoding: $0, as: UTF8.self) }
            }
            var program = ChildProgram(path, words, environment: kept + environment)
            program.standardOutput = pipe.write.rawValue
            program.standardError = pipe.write.rawValue
            let child = try ChildProcess(program)
            pipe.write.close()
            var output: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 4096)
            while true {
                let read = chunk.withUnsafeMutableBytes { buffer in
                    Result { () throws(Errno) in try System.read(pipe.read.rawValue, buffer) }
                }
                let count = try read.get()
                if count == 0 { break }
                output += chunk[..<count]
            }
            _ = try child.wait()
            return String(decoding: output, as: UTF8.self)
        }
    }

    /// A server for the time of `test`.
    static func run(
        _ environment: [String] = [], _ test: (SSHServer) async throws -> Void
    ) async throws {
        let server = try await SSHServer(environment)
        do {
            try await test(server)
            await server.stop()
        } catch {
            await server.stop()
            throw error
        }
    }
}

/// An outcome in words. What a person reads of a failure is noted for `.tells`.
func words(_ outcome: OperationEnd.Outcome) -> String {
    switch outcome {
    case .broken(let error), .notLetIn(_, let error): Telling.note(error.message)
    default: break
    }
    return switch outcome {
    case .broken(let error): "\(error.code)"
    case .notLetIn(let reason, let error): "\(reason) \(error.code)"
    case .answered(.refused(let status, _)): "refused \(status.rawValue)"
    case .answered(.done): "done"
    case .answered(.opened): "opened"
    case .answered(.attributes): "attributes"
    default: "\(outcome)"
    }
}
