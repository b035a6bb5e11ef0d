/// A model server for PUT, GET, HEAD and DELETE: nginx with its WebDAV module, and others less strict.
final class PutServer: HTTPServer {
    let disk: ServerDisk
    let door: ServerDoor
    let character: ServerCharacter
    var name: String { character.name }
    private let files: ServedFiles

    init(_ disk: ServerDisk, _ character: ServerCharacter, _ network: Network) {
        self.disk = disk
        self.character = character
        door = ServerDoor(disk, network)
        files = ServedFiles(disk)
        files.tellsTags = character.tellsTags
        files.tellsDigests = character.tellsDigests
    }

    func begin(_ request: ServedRequest) -> ServedAnswer? {
        if let refusal = door.refusal(request) { return refusal }
        switch request.method {
        case "PUT":
            if let refusal = violated(request) { return refusal }
            if character.truncatesAtOpen {
                let file = RemoteFile(modified: disk.now)
                request.target = file
                disk.put(file, at: request.path)
            }
            return nil
        case "GET", "HEAD", "DELETE", "OPTIONS": return nil
        default: return ServedAnswer(405)
        }
    }

    private func violated(_ request: ServedRequest) -> ServedAnswer? {
        character.ignoresConditions ? nil : files.violated(request, at: request.path)
    }

    func received(_ piece: [UInt8], _ request: ServedRequest) {
        guard let file = request.target else { return }
        file.bytes += piece
        file.modified = disk.now
        if disk.file(request.path) === file { disk.changed(request.path) }
    }

    func finish(_ request: ServedRequest) -> ServedAnswer {
        switch request.method {
        case "PUT":
            // Another may have come first meanwhile.
            if request.target == nil, let refusal = violated(request) { return refusal }
            let isNew = disk.file(request.path) == nil
            let file = request.target ?? RemoteFile(request.body, modified: disk.now)
            file.modified = disk.now
            disk.put(file, at: request.path)
            return ServedAnswer(isNew ? 201 : 204, files.facts(file, request))
        case "DELETE":
            guard disk.file(request.path) != nil else { return ServedAnswer(404) }
            disk.put(nil, at: request.path)
            return ServedAnswer(204)
        case "OPTIONS": return ServedAnswer(200, [("Allow", "GET, HEAD, PUT, DELETE, OPTIONS")])
        default: return files.read(request)
        }
    }
}
