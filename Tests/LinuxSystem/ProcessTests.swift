import Glibc
import LinuxSystem
import Testing

@Suite struct ProcessTests {
    @Test func `a child gets only what was named: environment, streams, directory, session`() throws {
        let (output, theirs) = try System.pipe()
        let leak = try System.duplicate(theirs.rawValue)
        // Without O_CLOEXEC, so that only closefrom keeps it from the child.
        _ = fcntl(leak.rawValue, F_SETFD, 0)
        let script =
            "pwd; env | grep -v -e '^PWD=' -e '^SHLVL=' -e '^_='; [ -e /proc/self/fd/\(leak.rawValue) ] && echo leaked; cut -d' ' -f6 /proc/$$/stat; echo $$"
        var program = ChildProgram("/bin/sh", ["-c", script], environment: ["ONLY=this"])
        program.standardOutput = theirs.rawValue
        let child = try ChildProcess(program)
        theirs.close()
        leak.close()
        let lines = try readAll(output.rawValue).split(separator: "\n")
        #expect(try child.wait() == .exited(0))
        #expect(lines.count == 4)
        #expect(lines.prefix(2) == ["/", "ONLY=this"])
        // Leader of its own session.
        #expect(lines.last == "\(child.processID)")
        #expect(lines.dropLast().last == "\(child.processID)")
    }

    @Test func `a program that is not there is an error, not a child`() {
        #expect(throws: Errno.noSuchFile) { try ChildProcess(ChildProgram("/no/such/program")) }
    }

    @Test(arguments: [
        "exec sleep 1000", "exec >&- sleep 1000", "while :; do echo x; done", "trap '' PIPE; while :; do echo x; done",
    ])
    func `a program that does not end is ended, whatever it has done with its output`(script: String) throws {
        var program = ChildProgram("/bin/sh", ["-c", script], environment: ["PATH=/usr/bin:/bin"])
        program.standardError = nil
        let output = try CommandOutput.read(of: program, within: .milliseconds(300))
        // Whoever prints for ever ends by the signal that tells him that nobody listens, if he hears it.
        #expect(output == .endless || output == .failed(.signalled(SIGPIPE)), "\(output)")
    }

    @Test func `a loop is told once how a child ended`() async throws {
        let loop = try EventLoop(name: "children")
        let host = Host(loop)
        // Our threads block signals; the child must not inherit that.
        #expect(try await host.end(of: ChildProgram("/bin/sh", ["-c", "kill -TERM $$"])) == .signalled(SIGTERM))
        #expect(try await host.end(of: ChildProgram("/bin/sh", ["-c", "exit 3"])) == .exited(3))
        loop.stop()
        loop.join()
    }

    @Test func `a signal reaches the child by its handle`() throws {
        let child = try ChildProcess(ChildProgram("/bin/cat", [], environment: []))
        _ = try? child.signal(SIGKILL)
        let status = try child.wait()
        // cat reads /dev/null and may have ended first.
        #expect(status == .signalled(SIGKILL) || status == .exited(0))
        try child.signal(SIGTERM)
    }

    @Test func `a blocked signal arrives on the loop`() async throws {
        let loop = try EventLoop(name: "signals")
        let host = Host(loop)
        #expect(try await host.receiveSignal(SIGUSR2) == SIGUSR2)
        loop.stop()
        loop.join()
    }

    @Test func `noted signals end a wait and are told once it is over, and an ignored one stays ignored`() throws {
        let before = signal(SIGURG, SIG_IGN)
        defer { _ = signal(SIGURG, before) }
        let (reading, writing) = try System.pipe()
        let noted = try #require(NotedSignals([SIGUSR1, SIGURG]))
        // The threads of tests take none themselves.
        for signal in [SIGUSR1, SIGURG, SIGUSR1] { kill(getpid(), signal) }
        #expect(try noted.wait(for: reading.rawValue) == false)
        #expect(noted.end() == [SIGUSR1])
        // What came then is not told again.
        let again = try #require(NotedSignals([SIGUSR1]))
        writing.close()
        #expect(try again.wait(for: reading.rawValue))
        #expect(again.end() == [])
        let last = try #require(NotedSignals([SIGUSR1]))
        NotedSignals.obey(SIGUSR1)
        #expect(last.end() == [SIGUSR1], "obeyed by this very thread, before anything else is done")
    }

    private actor Host {
        let loop: EventLoop
        var source: SignalSource?
        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
        init(_ loop: EventLoop) { self.loop = loop }

        func end(of program: ChildProgram) async throws -> ChildExit {
            let child = try ChildProcess(program)
            return try await withCheckedThrowingContinuation { done in
                do { try child.onExit(on: loop) { done.resume(returning: $0) } } catch { done.resume(throwing: error) }
            }
        }

        /// The signal goes to this thread alone: a process-wide one would end the test run, whose threads do not block it.
        func receiveSignal(_ signal: Int32) async throws -> Int32 {
            try await withCheckedThrowingContinuation { done in
                do {
                    source = try SignalSource(on: loop, [signal]) { done.resume(returning: $0) }
                    pthread_kill(pthread_self(), signal)
                } catch {
                    done.resume(throwing: error)
                }
            }
        }
    }
}
