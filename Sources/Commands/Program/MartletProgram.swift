// Commands: what `martlet` does when it is given words, and how what it finds is printed.
//
// For whom: `martlet`'s main alone. Which thread: the program's own task; the engine is reached through MartletKit and nothing else.
// Start reading at `RootCommand`, which lists the commands, and one of these, such as `VerifyCommand`: each is a type with its row of the
// table and its work. `Martlet` makes a run of a command line, `CommandContext` is what a run has, `Console` the only place that prints.

package import CommandLine
import MartletKit

/// The program `martlet`: its commands and the rest of its manual.
package enum MartletProgram {
    package static let program: Program = {
        var program = Program(RootCommand.table)
        program.sections = Manual.sections
        program.unbuiltWords =
            ExistingFilePolicy.allCases.filter { !ExistingFilePolicy.built.contains($0) }
            .map { "--if-exists \($0.rawValue)" }
            + [
                "- as SOURCE (standard input)", "a batch of downloads as ID of again", "watch --json",
                "show --json of a folder",
            ]
            + TransferErrorCode.unbuilt.map { "\($0.rawValue) as a cause" }
        program.seeAlso = ["martletd", "martlet-receive"]
        return program
    }()
}
