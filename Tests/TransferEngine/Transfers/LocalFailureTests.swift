import LinuxSystem
import TestSupport
import Testing
import TransferModel
import TransferProtocols
import TransferQueue

@testable import TransferEngine

/// What a person reads where this machine, or what is kept on it, is the reason.
@Suite struct LocalFailureTests {
    private let sandbox: Sandbox
    init() throws { sandbox = try Sandbox() }

    private func target() -> DownloadTarget {
        DownloadTarget(mark: "t7", directory: RawPath("/d"), umask: 0o027, on: LinuxDisk())
    }

    @Test(
        "a source that cannot be read says why",
        arguments: [
            (Errno.noSuchFile, "/s/f is not there any more: put it back and retry"),
            (.notDirectory, "/s/f is not there any more: put it back and retry"),
            (.tooManyLinks, "/s/f is a link now: queue it again, with --follow-links if it is meant"),
            (.accessDenied, "/s/f cannot be read (Permission denied): make it readable and retry"),
        ])
    func sources(error: Errno, expected: String) {
        #expect(TransferError.source(RawPath("/s/f"), error).message == expected)
    }

    @Test(
        "a folder of downloads that takes nothing says why",
        arguments: [
            (Errno.nameTooLong, "the name is too long for /d: queue it again with a shorter file name"),
            (
                .noSpace,
                "the disk that holds /d is full (downloads leave 64 MiB free, or 1 % of a small disk): "
                    + "make room, it goes on by itself"
            ),
            (.quotaExceeded, "the quota of the disk that holds /d is used up: make room, it goes on by itself"),
            (.fileTooLarge, "/d cannot hold a file of that size: queue it again into another folder"),
            (.readOnlyFileSystem, "/d cannot be written (Read-only file system): allow it and retry"),
            (.notDirectory, "/d is not a directory that can be used: move what is there, then retry"),
            (.inputOutput, "writing to /d failed (Input/output error): check the disk, then retry"),
            (
                .tooManyOpenFiles,
                "this machine has no file descriptor left: raise the limit (ulimit -n, or LimitNOFILE of the service) or "
                    + "lower --transfers; Martlet tries again by itself"
            ),
        ])
    func folders(error: Errno, expected: String) {
        #expect(target().refusal(error).error.message == expected)
    }

    @Test("a temporary file that has to come again says why")
    func losses() {
        func reason(_ left: PartState) -> String? {
            if case .all(let reason, _) = PartLoss(left, accepted: 3) { reason } else { nil }
        }
        #expect(reason(.nothing) == "the temporary file is not there any more")
        #expect(reason(.cut(length: 0)) == "the temporary file is empty")
        #expect(reason(.cut(length: 1)) == "somebody else has cut the temporary file")
        #expect(reason(.part(synced: 0, length: 3)) == "it was broken off before anything was safe on the disk")
        #expect(reason(.part(synced: 3, length: 3)) == nil)
    }

    @Test("what is to let us in and cannot be had says why")
    func credentials() throws {
        func failure(
            within patience: Duration = .seconds(60), _ change: (inout TransferSecrets) throws -> Void
        ) throws -> String {
            var secrets = TransferSecrets()
            try change(&secrets)
            guard case .failed(let error) = try CredentialSource.fetch(secrets, within: patience) else { return "" }
            return error.message
        }
        #expect(
            try failure { $0.passwordCommand = "false" } == "the password command failed: mend it and retry")
        #expect(
            try failure(within: .milliseconds(1)) { $0.passwordCommand = "exec sleep 3600" }
                == "the password command does not end: mend it and retry")
        #expect(
            try failure { $0.passwordCommand = "printf '\\377'" }
                == "the password command prints a password that is not UTF-8: mend it and retry")
        #expect(
            try failure { $0.passwordCommand = "printf 'a\\001b'" }
                == "the netrc file or password command gives a control character: mend it and retry")
        #expect(
            try failure { $0.s3Command = ["/bin/true"] }
                == "credential_process of the AWS profile does not print keys: mend it and retry")
        #expect(
            try failure { $0.s3Command = ["/nowhere/keys"] }
                == "credential_process of the AWS profile cannot be run (No such file or directory): mend it and retry")
        let path = RawPath(sandbox.path("netrc"))
        #expect(
            try failure { $0.netrcFile = path }
                == "\(path.displayed) cannot be read (No such file or directory): mend it and retry")
    }

    @Test("secrets that are lost with their store are asked for by the options that give them")
    func lostSecrets() throws {
        let batch = BatchID(rawValue: 3)
        let login = try #require(TransferError.lost([.login], of: batch))
        #expect(
            login.message
                == "the login was lost with secrets.sqlite: give it again with 'martlet set b3' and --user or --password-command"
        )
        let any = try #require(TransferError.lost([.query], of: batch))
        #expect(
            any.finding.advice == "queue it again with the whole address and all that it needs, and cancel this one")
        #expect(
            TransferError.lostQuery.message
                == "the query of its address was lost with secrets.sqlite: queue it again with the whole address, and cancel "
                + "this one")
    }

    @Test("a look that cannot be made says what can still be done")
    func looks() {
        #expect(
            TransferError.beingSentAgain(1).message
                == "another batch of yours has begun to send a file to the same name: "
                + "'martlet verify ID' can tell when all of that batch is completed")
        #expect(TransferError.beingSentAgain(2).happening.hasSuffix("has begun to send 2 files to the same names"))
        #expect(
            TransferError.tooManyNames("nas").message
                == "nas lists more names than can be: look there whether all of it has arrived")
        #expect(TransferError.stoppedLooking.message == "the engine stopped before it was done: try again")
    }

    @Test("a file that is given up keeps what happened last, and no promise")
    func givenUp() {
        let last = NetworkFailureTests.refused(by: "nas:443")
        let error = TransferError.gaveUp(after: last)
        #expect(error.code == .gaveUp)
        #expect(
            error.message
                == "nothing moved for as long as --give-up-after allows; last: nas:443 does not accept the connection")
    }
}
