import LinuxSystem
import TransferModel

/// The folders of chunks of a model Nextcloud (its manual, chunked upload v2).
final class NextcloudChunks {
    private final class Folder {
        var chunks: [String: [UInt8]] = [:]
        /// Chunks that the engine was told to be here.
        var told: Set<String> = []
        /// Seconds since 1970.
        var changed: Int64

        init(changed: Int64) { self.changed = changed }
    }

    private static let root = "/remote.php/dav/uploads/ada/"
    /// A folder that nobody writes to is thrown away after a day.
    private static let life: Int64 = 86_400

    private let disk: ServerDisk
    private let network: Network
    private var folders: [String: Folder] = [:]

    init(_ disk: ServerDisk, _ network: Network) {
        self.disk = disk
        self.network = network
    }

    func owns(_ path: String) -> Bool { path.hasPrefix(Self.root) }

    /// The names of the folder and of what is in it.
    private func names(_ request: ServedRequest) -> (folder: String, chunk: String?) {
        let parts = request.path.dropFirst(Self.root.count).split(separator: "/")
        return (parts.first.map { String($0) } ?? "", parts.count > 1 ? String(parts[1]) : nil)
    }

    private func folder(_ request: ServedRequest) -> Folder? { folders[names(request).folder] }

    private var missing: ServedAnswer { ServedAnswer(404, body: DavWords.error("NotFound")) }

    // MARK: Requests

    func make(_ request: ServedRequest) -> ServedAnswer {
        if folder(request) != nil { return ServedAnswer(405) }
        folders[names(request).folder] = Folder(changed: disk.now)
        return ServedAnswer(201)
    }

    func begin(_ request: ServedRequest) -> ServedAnswer? {
        guard let folder = folder(request), let name = names(request).chunk else { return missing }
        if folder.told.contains(name) {
            network.world.fault(
                "chunk \(name) of \(names(request).folder) is sent, and the server has told that it has it")
        }
        return nil
    }

    func put(_ request: ServedRequest) -> ServedAnswer {
        guard let folder = folder(request), let name = names(request).chunk else { return missing }
        let isNew = folder.chunks[name] == nil
        folder.chunks[name] = request.body
        folder.changed = disk.now
        return ServedAnswer(isNew ? 201 : 204)
    }

    func remove(_ request: ServedRequest) -> ServedAnswer {
        let name = names(request).folder
        guard folders[name] != nil else { return missing }
        folders[name] = nil
        return ServedAnswer(204)
    }

    func list(_ request: ServedRequest) -> ServedAnswer {
        guard let folder = folder(request) else { return missing }
        let path = Self.root + names(request).folder + "/"
        request.listed = Set(folder.chunks.keys)
        var entries = [DavWords.Entry(path: path)]
        for (name, bytes) in folder.chunks.sorted(by: { $0.key < $1.key }) where request.fields["depth"] == "1" {
            entries.append(DavWords.Entry(path: path + name, size: bytes.count, modified: folder.changed, tag: "\"c\""))
        }
        entries.append(DavWords.Entry(path: path + ".file", size: 0, modified: folder.changed, tag: "\"f\""))
        return DavWords.list(entries)
    }

    func told(_ answer: ServedAnswer, to request: ServedRequest) {
        guard owns(request.path), let folder = folder(request) else { return }
        switch (request.method, answer.status) {
        case ("PUT", 200..<300): names(request).chunk.map { _ = folder.told.insert($0) }
        case ("PROPFIND", 207) where request.fields["depth"] == "1":
            folder.told.formUnion(request.listed.intersection(folder.chunks.keys))
        default: break
        }
    }

    // MARK: The whole

    /// The refusal to put together what is not all there.
    func incomplete(_ request: ServedRequest) -> ServedAnswer? {
        guard let folder = folder(request) else { return missing }
        let total = request.fields["oc-total-length"].flatMap { Int($0) }
        let found = folder.chunks.values.reduce(0) { $0 + $1.count }
        return found == total ? nil : ServedAnswer(400, body: DavWords.error("BadRequest"))
    }

    /// All bytes, in the order of the chunks' names; the folder goes.
    func take(_ request: ServedRequest) -> [UInt8] {
        defer { folders[names(request).folder] = nil }
        return folder(request)?.chunks.sorted { $0.key < $1.key }.flatMap(\.value) ?? []
    }

    // MARK: By itself

    var unfinished: [Unfinished] {
        folders.filter { !$0.value.chunks.isEmpty }.sorted { $0.key < $1.key }.map { name, folder in
            Unfinished(name: name, what: "the folder of chunks \(name)")
        }
    }

    func tidy() {
        for (name, folder) in folders.sorted(by: { $0.key < $1.key }) {
            if folder.changed + Self.life < disk.now {
                network.world.tell(disk.host, "throws the chunks of \(name) away, whose time is over")
                folders[name] = nil
            } else if !folder.chunks.isEmpty, network.weather.strikes(oneIn: 40) {
                // Chunks have vanished before the MOVE (nextcloud/server #28589).
                let lost = network.weather.chance.pick(folder.chunks.keys.sorted())
                network.world.tell(disk.host, "loses chunk \(lost) of \(name)")
                folder.chunks[lost] = nil
                folder.told.remove(lost)
            }
        }
    }
}
