import LinuxSystem
import TransferModel

/// The ways of one model server that takes files by POST, as the body or in a form.
struct PostCharacter {
    let name: String
    /// Knows a second POST with the same `Idempotency-Key` for the first, and gives its answer again.
    var knowsKeys = false
    /// What answers for it gives up before it is done: 502 or 504, and the file is there all the same.
    var isBehindGateway = false

    static let all = [
        PostCharacter(name: "form handler"),
        PostCharacter(name: "form handler behind a gateway", isBehindGateway: true),
        PostCharacter(name: "POST with Idempotency-Key", knowsKeys: true, isBehindGateway: true),
    ]
}

/// A model server that makes a new thing of each POST; the latest has the name.
final class PostServer: HTTPServer {
    let disk: ServerDisk
    let door: ServerDoor
    private let character: PostCharacter
    private let network: Network
    /// Answers by the keys of their requests.
    private var answers: [String: ServedAnswer] = [:]
    /// POSTs that may have made something, by path, since a person said what is to be sent.
    private var mayBeDone: [String: Int] = [:]
    /// Paths that the person has queued a file or a folder for, once for each time.
    private var ordered: [String] = []

    var name: String { character.name }
    var knowsKeys: Bool { character.knowsKeys }

    init(_ disk: ServerDisk, _ character: PostCharacter, _ network: Network) {
        self.disk = disk
        self.character = character
        self.network = network
        door = ServerDoor(disk, network)
    }

    func begin(_ request: ServedRequest) -> ServedAnswer? {
        guard request.method == "POST" else { return ServedAnswer(405) }
        if mayBeDone[request.path, default: 0] >= orders(of: request.path), request.fields["idempotency-key"] == nil {
            network.world.fault(
                "\(request.path) is posted again by itself, and an earlier POST may have been carried out")
        }
        // Of an empty body nobody can say that it was not sent.
        if request.length == 0 { count(request) }
        guard let refusal = door.refusal(request) else { return nil }
        if refusal.status == 401 { uncount(request) }
        return refusal
    }

    func received(_ piece: [UInt8], _ request: ServedRequest) { count(request) }

    /// A request may have made something from now on; once for each.
    private func count(_ request: ServedRequest) {
        if request.isCounted { return }
        request.isCounted = true
        mayBeDone[request.path, default: 0] += 1
    }

    private func uncount(_ request: ServedRequest) {
        guard request.isCounted, let count = mayBeDone[request.path] else { return }
        request.isCounted = false
        mayBeDone[request.path] = max(0, count - 1)
    }

    /// Tasks that may send to a path: two batches may have the same file, and nothing in a request tells them apart.
    private func orders(of path: String) -> Int {
        max(1, ordered.count { path == $0 || path.hasPrefix($0 + "/") })
    }

    /// The person has queued a file or a folder.
    func orders(_ path: String) { ordered.append(path) }

    func finish(_ request: ServedRequest) -> ServedAnswer {
        let key = character.knowsKeys ? request.fields["idempotency-key"] : nil
        if let key, let answer = answers[key] { return answer }
        disk.makeFolders(ServerDisk.parent(request.path))
        disk.put(RemoteFile(Self.file(in: request), modified: disk.now), at: request.path)
        let answer = ServedAnswer(201, [("Location", request.path)], body: Array("made\n".utf8))
        if let key { answers[key] = answer }
        if character.isBehindGateway, network.weather.strikes(oneIn: 15) {
            network.world.tell(disk.host, "made \(request.path), and its gateway has given up")
            return ServedAnswer(network.weather.chance.pick([502, 503, 504]))
        }
        return answer
    }

    func told(_ answer: ServedAnswer, to request: ServedRequest) {
        // The answer says that nothing was done.
        if answer.status == 401 { uncount(request) }
    }

    func decided() { mayBeDone = [:] }

    /// The body, or the file in a form.
    private static func file(in request: ServedRequest) -> [UInt8] {
        guard let type = request.fields["content-type"], let mark = type.firstRange(of: "boundary=") else {
            return request.body
        }
        let end = Array("\r\n--\(type[mark.upperBound...])--\r\n".utf8)
        let body = request.body
        let names = Array("filename=".utf8)
        let blank = Array("\r\n\r\n".utf8)
        guard let field = body.firstRange(of: names), let start = body[field.upperBound...].firstRange(of: blank),
            body.suffix(end.count).elementsEqual(end), start.upperBound <= body.count - end.count
        else { return body }
        return Array(body[start.upperBound..<body.count - end.count])
    }
}
