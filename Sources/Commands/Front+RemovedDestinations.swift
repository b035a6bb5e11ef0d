import CommandLine
import Configuration
import LinuxSystem
import MartletKit

/// Forgetting configured servers, and having them again.
extension Front {
    func removeDestinations(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        var status = ExitStatus.done
        for operand in invocation.operands {
            let name = operand.shown
            guard let removed = try onDisk({ disk throws(Errno) in try disk.remove(name) }) else {
                status = .noSuchObject
                tell(name, .refused, "noSuchObject", "there is no such destination", invocation)
                continue
            }
            // The section is gone first: what is left over of a login then opens nothing by itself.
            if removed.login == .kept {
                _ = try await ask { engine throws(RequestError) in try await engine.forgetLogin(of: name) }
            }
            tell(
                name, .done, nil,
                "removed; what is queued goes on (martlet destination restore \(name) takes it back for 24 h)",
                invocation)
        }
        return status
    }

    func restoreDestination(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let wanted = invocation.operands.first?.shown
        guard var destination = try onDisk({ disk throws(Errno) in disk.restorable(wanted) }) else {
            let what = wanted.map { "no destination \"\($0)\"" } ?? "no destination"
            throw CommandFailure(
                .noSuchObject, .noSuchObject, "destination restore: \(what) was removed in the last 24 h",
                "martlet destination add configures one")
        }
        let name = destination.name
        guard surroundings.destinationsFile()[name] == nil else {
            throw CommandFailure(
                .refused, .refused, "destination restore: there is another destination \"\(name)\" by now",
                "remove that one first")
        }
        if destination.login == .kept {
            let isBack = try await ask { engine throws(RequestError) in try await engine.restoreLogin(of: name) }
            if !isBack {
                destination.login = .none
                console.note(
                    "martlet: \(name): its password is gone: martlet destination add --replace asks for it again")
            }
        }
        let restored = destination
        try onDisk { disk throws(Errno) in try disk.restore(restored) }
        tell(name, .done, nil, "back; use it as \(name):PATH", invocation)
        return .done
    }

    private func onDisk<Value>(
        _ body: (DestinationsOnDisk) throws(Errno) -> Value
    ) throws(CommandFailure) -> Value {
        guard let path = surroundings.destinationsPath else {
            throw CommandFailure(
                .refused, .refused, "there is no folder for destinations.conf", "set HOME or MARTLET_HOME")
        }
        do throws(Errno) { return try body(DestinationsOnDisk(path, now: surroundings.now())) } catch {
            throw CommandFailure(
                .refused, .refused, "destinations.conf cannot be written (\(error))",
                "check \(RawPath(path).displayed)")
        }
    }

    private func tell(
        _ name: String, _ result: NodeResult.Outcome, _ code: String?, _ words: String, _ invocation: Invocation
    ) {
        if invocation.has(CommonOptions.json) {
            console.json(ChangedDestination(name: name, result: result, code: code))
        } else if result == .refused {
            console.note("martlet: \(name): \(words): see martlet destination list")
        } else {
            console.line("\(name): \(words)")
        }
    }
}

/// What became of one destination.
struct ChangedDestination: Encodable {
    let name: String
    let result: NodeResult.Outcome
    let code: String?

    enum CodingKeys: CodingKey { case name, result, code }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: CodingKeys.self)
        try object.encode(name, forKey: .name)
        try object.encode(result, forKey: .result)
        try object.encode(code, forKey: .code)
    }
}
