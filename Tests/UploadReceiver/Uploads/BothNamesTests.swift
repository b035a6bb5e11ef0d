import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import UploadReceiver

@Suite("A file system that gives a file both its names for a moment")
struct BothNamesTests {
    @Test("after a kill between link and unlink the receiver recognises its own file")
    func killedBetween() throws {
        let sandbox = try ReceiverSandbox()
        let publisher = try Publisher(folder: try ServedFolder(path: sandbox.folder))
        defer { publisher.stop() }
        let root = try System.open(sandbox.folder)
        var record = UploadRecord(path: TargetPath(components: [Array("f".utf8)]), completesByLength: true)
        record.length = 5
        record.conditions = try #require(Preconditions(RequestFields(["If-None-Match": "*"])))
        let store = try UploadStore(
            in: root, DiskRoom(of: root, keepFree: 0), ReceiverConfiguration.Limits(), publisher,
            try ReceiverJournal(output: -1))
        defer { store.stop() }
        let upload = try store.create(record)
        let seat = try #require(upload.takeSeat(-1))
        #expect(try [UInt8](1...5).withUnsafeBytes { try upload.append($0, seat) } == .stored)
        upload.leave(seat)
        let data = sandbox.path("\(UploadID.folderName)/\(upload.id.text).data")
        #expect(link(String(decoding: data, as: UTF8.self), String(decoding: sandbox.path("f"), as: UTF8.self)) == 0)
        let end = store.status(upload)
        guard case .published = end else {
            Issue.record("\(end)")
            return
        }
        #expect(try System.lstat(sandbox.path("f")).size == 5)
        #expect(throws: Errno.noSuchFile) { try System.lstat(data) }
        store.release(upload)
    }
}
