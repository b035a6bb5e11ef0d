import CommandLine
import Configuration
import Glibc
import LinuxSystem
import UploadReceiver

/// Ends the program with one line on standard error that says what happened and what to do.
func fail(_ line: String, _ status: ExitStatus) -> Never {
    let bytes = Array((line + "\n").utf8)
    // Nothing can be done about a standard error that takes no line.
    _ = write(STDERR_FILENO, bytes, bytes.count)
    exit(status.rawValue)
}

// Its memory holds a token and perhaps a private key.
System.forbidDumps()
let arguments = Argument.ofThisProcess()
// Asked for alone, it needs no DIR; the table demands one.
if arguments == [Argument("--version")] {
    print("martlet-receive \(ProductVersion.current)")
    exit(ExitStatus.done.rawValue)
}
do {
    switch try ReceiveProgram.program.parse(arguments, width: TerminalWidth.ofOutput()) {
    case .help(let text): print(text, terminator: text.hasSuffix("\n") ? "" : "\n")
    case .run(let invocation): try ReceiverProgram.run(ReceiverConfiguration(invocation))
    }
} catch let failure as CommandFailure {
    fail(failure.line(program: "martlet-receive"), failure.status)
} catch {
    fail("martlet-receive: \(error)", .refused)
}
