package import CommandLine
import Configuration

/// Every file of Resources that is made from a table in the code.
package enum Documents {
    package static var all: [GeneratedFile] {
        [MartletProgram.program, EngineProgram.program, ReceiveProgram.program].flatMap(GeneratedFile.all)
            + [GeneratedFile(path: "examples/martlet.conf", text: Settings.example)]
    }
}
