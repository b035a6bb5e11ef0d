import CommandLine
import Configuration
import MartletKit

/// `martlet destination test`.
struct DestinationTestCommand: EngineCommand {
    let context: CommandContext

    static let command = Command(
        "test", "ask a server whether it can be used; writes nothing there",
        details: [
            "Says in one sentence what works, or why not and what to do. The status is 1 if it cannot be used."
        ],
        operands: [Operand(ValueSyntax<String>.text("NAME"))],
        groups: [CommonOptions.output])

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let word = invocation.operands[0].text ?? invocation.operands[0].shown
        let book = context.destinationBook()
        let login: LoginQuestion?
        do throws(QueueingFault) { login = try book.loginToAsk(word) } catch {
            throw CommandFailure(error, command: "destination test")
        }
        var password: String?
        if let login { password = try self.password(of: login, at: word) }
        let request: BatchRequest
        do throws(QueueingFault) {
            request = try book.question(word, password: password, environment: surroundings.environment)
        } catch {
            throw CommandFailure(error, command: "destination test")
        }
        let report = try await ask(answersLate: true) { engine throws(RequestError) in try await engine.test(request) }
        if invocation.has(CommonOptions.json) {
            console.json(report)
        } else {
            let shown = ShownAddress.of(word)
            let login =
                Destination.isName(word)
                ? "check user and password in the screen's page of servers (D)" : "check user and password"
            let url = if case .upload(_, let url) = request.work { url } else { "" }
            console.line(report.sentence(shown, console.units, login: login, at: url) + ".")
        }
        return report.ok ? .done : .refused
    }

    private func password(of login: LoginQuestion, at word: String) throws(CommandFailure) -> String {
        if let password = try surroundings.askPassword(login.prompt()) { return password }
        let known = Destination.isName(word) ? word : "NAME"
        throw .usage(
            "destination test: there is no terminal to ask for the password of \(login.user)",
            "run it in one, or have the engine keep it: martlet destination add \(known) --replace URL")
    }
}
