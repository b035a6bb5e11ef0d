import CommandLine
import MartletKit

/// Forgetting configured servers, and having them again.
extension Front {
    /// All that can be removed is; one whose login cannot be forgotten now stays, and is said.
    func removeDestinations(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let changes = try destinationChanges()
        var status = ExitStatus.done
        for operand in invocation.operands {
            let name = operand.text ?? operand.shown
            do throws(RequestError) {
                guard try await changes.remove(name) != nil else {
                    throw RequestError(
                        .noSuchObject, "there is no such destination: see martlet destination list")
                }
                tell(
                    name, .done, nil,
                    "removed; what is queued goes on (martlet destination restore \(name) takes it back for 24 h)",
                    invocation)
            } catch {
                tell(name, .refused, error.code.rawValue, error.message, invocation)
                // An engine that cannot be reached is worth trying again, whatever else is wrong.
                let next = CommandFailure(error).status
                if status == .done || status == .refused || next == .unavailable { status = next }
            }
        }
        return status
    }

    func restoreDestination(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let wanted = invocation.operands.first.map { $0.text ?? $0.shown }
        let restored: DestinationChanges.Restored
        let changes = try destinationChanges()
        do throws(RequestError) { restored = try await changes.restore(wanted) } catch {
            throw CommandFailure(error, command: "destination restore")
        }
        let name = restored.name
        if restored.loginIsGone {
            console.note("martlet: \(name): its password is gone: martlet destination add --replace asks for it again")
        }
        tell(name, .done, nil, "back; use it as \(name):PATH", invocation)
        return .done
    }

    /// The one way of changing what is configured.
    func destinationChanges() throws(CommandFailure) -> DestinationChanges {
        guard let path = surroundings.destinationsPath else {
            throw CommandFailure(
                .refused, .refused, "there is no folder for destinations.conf", "set HOME or MARTLET_HOME")
        }
        return DestinationChanges(path, logins: engine, now: surroundings.now)
    }

    private func tell(
        _ name: String, _ result: NodeResult.Outcome, _ code: String?, _ words: String, _ invocation: Invocation
    ) {
        if invocation.has(CommonOptions.json) {
            console.json(ChangedDestination(name: name, result: result, code: code))
        } else if result == .refused {
            console.note("martlet: \(name): \(words)")
        } else {
            console.line("\(name): \(words)")
        }
    }
}

/// The result for one destination.
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
