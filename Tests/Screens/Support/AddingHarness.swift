import Configuration
@testable import MartletKit
import Terminal

@testable import TerminalUI

/// An invented folder, and a screen that shows it.
enum Adding {
    static let folder = Array("/home/ana".utf8)
    static func path(_ name: String) -> [UInt8] { Array("/home/ana/\(name)".utf8) }

    /// 2024-08-02.
    private static let day: Int64 = 1_722_600_000

    static let entries: [FolderEntry] = [
        FolderEntry(name: Array("edits".utf8), kind: .folder, modified: day + 40 * 86_400),
        FolderEntry(name: Array("export".utf8), kind: .folder, modified: day + 41 * 86_400),
        FolderEntry(name: Array("raw".utf8), kind: .folder, modified: day),
        FolderEntry(name: Array("video".utf8), kind: .folder, modified: day + 86_400),
        FolderEntry(name: Array(".cache".utf8), kind: .file, size: 10, modified: day),
        FolderEntry(name: Array("bad name\u{1B}[31m.txt".utf8), kind: .file, size: 100, modified: day),
        FolderEntry(name: Array("disk".utf8), kind: .other, modified: day),
        FolderEntry(name: Array("IMG_0001.jpg".utf8), kind: .file, size: 4_300_000, modified: day),
        FolderEntry(name: Array("IMG_0002.jpg".utf8), kind: .file, size: 4_100_000, modified: day),
        FolderEntry(name: Array("latin-".utf8) + [0xE4], kind: .file, size: 1, modified: day),
        FolderEntry(name: Array("link".utf8), kind: .file, isLink: true, size: 9, modified: day),
        FolderEntry(name: Array("notes.txt".utf8), kind: .file, size: 2048, modified: day),
        FolderEntry(name: Array("secret.key".utf8), kind: .file, size: 1700, modified: day, isReadable: false),
        FolderEntry(name: Array("写真アルバム-2024年の夏休み-北海道旅行.jpg".utf8), kind: .file, size: 5 << 20, modified: day),
    ]

    static var places: LocalPlaces {
        LocalPlaces(
            home: folder, mounts: [Array("/media/ana/usb1".utf8)], bookmarks: [Array("/home/ana/Documents".utf8)])
    }

    static var recent: RecentPlaces {
        var recent = RecentPlaces()
        recent.add(destination: "https://nas.example/in/")
        recent.add(destination: "sftp://ana@nas.local/backup/")
        recent.add(folder: Array("/home/ana/Photos/2024".utf8))
        return recent
    }

    static let configured = DestinationsFile(
        bytes: Array(
            """
            [nas]
            url = sftp://ana@nas.local/backup/
            [photos]
            url = s3://photos/2024/
            profile = home
            if-exists = skip
            [cloud]
            url = davs://cloud.example/remote.php/dav/files/ana/
            user = ana
            login = kept
            """.utf8))

    /// The first step, with the folder read and nothing known of earlier times.
    static func screen(_ columns: Int, _ rows: Int) -> ScreenHarness {
        var screen = ScreenHarness(columns, rows, [Rows.section(nil, [])])
        screen.press("a")
        screen.list(entries)
        return screen
    }

    /// The answer to a request.
    static let batch = Rows.snapshot(7, "edits", .running, scanning: true)
}

extension ScreenHarness {
    /// How many things are chosen.
    var picked: Int { model.adding?.picker.basket.count ?? -1 }

    /// The folder that is shown has been read.
    mutating func list(_ entries: [FolderEntry], isComplete: Bool = true) {
        guard let folder = model.adding?.picker.folder else { return }
        send(.local(.listed(folder.path, folder.order, FolderSnapshot(entries, isComplete: isComplete))))
    }

    mutating func paste(_ text: String) {
        send(.input(.paste(Paste(bytes: Array(text.utf8), isIncomplete: false))))
    }
}
