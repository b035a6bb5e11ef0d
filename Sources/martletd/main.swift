import CommandLine
import Configuration
import DisplayText
import Glibc
import TransferService

/// Writes a line at once, past any buffer. Nothing can be done about a stream that takes no line.
func say(_ line: String, to descriptor: Int32) {
    let bytes = Array((line.harmless + "\n").utf8)
    _ = write(descriptor, bytes, bytes.count)
}

do {
    switch try EngineProgram.program.parse(Argument.ofThisProcess(), width: TerminalWidth.ofOutput()) {
    case .help(let text): print(text, terminator: text.hasSuffix("\n") ? "" : "\n")
    case .run(let invocation) where invocation.has(EngineProgram.version):
        print("martletd \(ProductVersion.current)")
    case .run(let invocation) where invocation.has(EngineProgram.check):
        let (lines, isWell) = try await EngineMain.check()
        for line in lines { say(line, to: STDOUT_FILENO) }
        exit(isWell ? ExitStatus.done.rawValue : ExitStatus.badQueue.rawValue)
    case .run: try EngineMain.run { say("ready \($0)", to: STDOUT_FILENO) }
    }
} catch let failure as CommandFailure {
    say(failure.line(program: "martletd"), to: STDERR_FILENO)
    exit(failure.status.rawValue)
} catch let failure as EngineFailure {
    // The front that started us looks at the first of these, a person at the second.
    say("failed \(failure.codeName)", to: STDOUT_FILENO)
    say("martletd: \(failure.message)", to: STDERR_FILENO)
    exit(failure.status)
}
