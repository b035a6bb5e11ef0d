import Glibc
import Testing

@testable import LinuxSystem

@Suite("Folders and files that must be this user's alone")
struct PrivateFileTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    @Test("a folder is made with no bits for others, and found again")
    func made() throws {
        let path = sandbox.file("made")
        #expect(throws: PrivacyFailure.failed(.noSuchFile)) { try System.openPrivateFolder(path) }
        let made = try System.openPrivateFolder(path, making: true)
        #expect(try System.fstat(made.rawValue).permissions == 0o700)
        _ = try System.openPrivateFolder(path, making: true)
    }

    @Test("bits for others are refused", arguments: [UInt32(0o701), 0o750, 0o707])
    func shared(mode: UInt32) throws {
        let (folder, file) = (sandbox.file("folder"), sandbox.file("file"))
        try System.mkdir(folder, mode: 0o700)
        try System.chmod(folder, mode: mode)
        #expect(throws: PrivacyFailure.shared(permissions: mode)) {
            try System.openPrivateFolder(folder, making: true)
        }
        _ = try System.open(file, flags: O_WRONLY | O_CREAT, mode: 0o600)
        _ = try System.openPrivateFile(file)
        try System.chmod(file, mode: mode)
        #expect(throws: PrivacyFailure.shared(permissions: mode)) { try System.openPrivateFile(file) }
    }

    @Test("a link is not followed, and a pipe is no file")
    func kinds() throws {
        let link = sandbox.file("link")
        try System.mkdir(sandbox.file("folder"), mode: 0o700)
        #expect(symlink("folder", String(decoding: link, as: UTF8.self)) == 0)
        #expect(throws: PrivacyFailure.failed(.notDirectory)) { try System.openPrivateFolder(link, making: true) }
        #expect(throws: PrivacyFailure.failed(.tooManyLinks)) { try System.openPrivateFile(link) }
        try System.mkfifo(sandbox.file("fifo"), mode: 0o600)
        #expect(throws: PrivacyFailure.notAFile) { try System.openPrivateFile(sandbox.file("fifo")) }
    }

    @Test("what another user made is refused")
    func foreign() throws {
        // Nobody but root can give a folder away.
        guard System.userID == 0 else { return }
        let path = sandbox.file("foreign")
        try System.mkdir(path, mode: 0o700)
        #expect(chown(String(decoding: path, as: UTF8.self), 12_345, 12_345) == 0)
        #expect(throws: PrivacyFailure.foreign(userID: 12_345)) { try System.openPrivateFolder(path) }
    }
}
