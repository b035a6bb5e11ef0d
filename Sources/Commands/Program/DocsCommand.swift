import CommandLine
import Configuration

/// `martlet docs`: generated files to the standard output, for `make docs`.
enum DocsCommand: MartletCommand {
    static let command = Command(
        "docs", "print a generated file of Resources, or their names",
        operands: [Operand(ValueSyntax<String>.text("PATH"), .optional)],
        isHidden: true)

    static func plan(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> Martlet.Plan {
        guard let path = invocation.operands.first?.text else {
            Documents.all.forEach { console.line($0.path) }
            return .exit(.done)
        }
        guard let file = Documents.all.first(where: { $0.path == path }) else {
            throw CommandFailure(.noSuchObject, .noSuchObject, "docs: there is no \(path)", "see martlet docs")
        }
        console.text(file.text)
        return .exit(.done)
    }
}
