import LinuxSystem
import Testing

/// Some seeds of the simulated world; `make simulate` runs more. CONTRIBUTING.md, "The simulated world".
///
/// No seed runs twice at the same time: it has two folders then, and their names stand in its story.
@Suite struct SeedTests {
    @Test(arguments: ["1", "151"]) func theFirstSeedsBreakNoRule(from first: String) throws {
        let (output, exit) = try Self.simulate(first, "150")
        #expect(exit == .exited(0), "\(output)")
    }

    @Test func aSeedRunsTheSameWayEachTime() throws {
        let first = try Self.simulate("309", "12", "story")
        let again = try Self.simulate("309", "12", "story")
        #expect(first.output.contains("kills the engine") && first.output.contains("cuts the engine's power"))
        #expect(first.output == again.output)
    }

    private static func simulate(_ arguments: String...) throws -> (output: String, exit: ChildExit) {
        let pipe = try System.pipe()
        // The program beside the test bundle.
        let tests = CommandLine.arguments[0]
        var program = ChildProgram(
            String(tests[..<(tests.lastIndex(of: "/") ?? tests.startIndex)]) + "/simulate", arguments)
        program.standardOutput = pipe.write.rawValue
        let child = try ChildProcess(program)
        pipe.write.close()
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var count = 0
        repeat {
            count = try buffer.withUnsafeMutableBytes { try System.read(pipe.read.rawValue, $0) }
            output += buffer[..<count]
        } while count > 0
        return (String(decoding: output, as: UTF8.self), try child.wait())
    }
}
