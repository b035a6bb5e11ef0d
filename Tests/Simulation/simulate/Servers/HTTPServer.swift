import TransferModel
import WireOperations

/// A request as it comes to a model server, its body piece by piece.
final class ServedRequest {
    let method: String
    /// Without scheme, host and query, percent-decoded.
    let path: String
    /// Fields of the query, percent-decoded; one without a value has an empty one.
    let query: [String: String]
    /// Names in lower case.
    let fields: [String: String]
    /// As the request announces it.
    let length: Int
    var body: [UInt8] = []
    /// A file that the body goes into as it comes.
    var target: RemoteFile?
    /// An upload that the body goes into as it comes, where the server has a type of its own for these.
    var upload: AnyObject?
    /// Pieces of an upload that the answer tells of.
    var listed: Set<String> = []
    /// Its server has counted it as one that may have made something.
    var isCounted = false
    /// An answer was chosen before all of the body was here.
    var verdict: ServedAnswer?

    init(method: String, path: String, query: [String: String] = [:], fields: [HeaderField], length: Int) {
        self.method = method
        self.path = path
        self.query = query
        self.fields = Dictionary(fields.map { ($0.name.lowercased(), $0.value) }) { _, last in last }
        self.length = length
    }
}

/// A model server's answer to one request.
struct ServedAnswer {
    var status: Int
    var fields: [HeaderField] = []
    var body: [UInt8] = []
    /// A file that is read while it is sent, in place of `body`.
    var file: FileReading?

    init(_ status: Int, _ fields: [(String, String)] = [], body: [UInt8] = []) {
        self.status = status
        self.fields = fields.map { HeaderField($0.0, $0.1) }
        self.body = body
    }
}

/// The time that a server takes for a request.
struct Labour {
    let time: Duration
    /// A gateway before it answers 504 after this; the server goes on. `nil`: there is none.
    let patience: Duration?

    init(_ time: Duration, patience: Duration? = nil) {
        self.time = time
        self.patience = patience
    }
}

/// A file or upload of ours that lies at a server unfinished, and has bytes of a file in it.
struct Unfinished {
    /// The server's own name for it: it stands in whatever is known of it elsewhere.
    let name: String
    let what: String
    /// The server was asked to take it away, and said no, or did not hear it.
    var isKept = false
}

/// A model server that speaks HTTP. `SimulatedHTTP` brings it each request in pieces.
protocol HTTPServer: AnyObject {
    /// The name of its character.
    var name: String { get }
    var disk: ServerDisk { get }
    var door: ServerDoor { get }
    /// The final name that a request is to bring bytes to; `nil`: it brings none.
    func place(of request: ServedRequest) -> String?
    /// The head is here. An answer refuses before a byte of the body is taken.
    func begin(_ request: ServedRequest) -> ServedAnswer?
    /// An interim answer that goes out while the body comes.
    func interim(_ request: ServedRequest) -> ServedAnswer?
    /// A piece of the body is here; it is in `request.body` already.
    func received(_ piece: [UInt8], _ request: ServedRequest)
    /// All of the body is here.
    func finish(_ request: ServedRequest) -> ServedAnswer
    /// The time that `finish` takes; the line may be cut meanwhile, and the work is done all the same.
    func labour(_ request: ServedRequest) -> Labour?
    /// The line was cut in the middle of the body.
    func broken(_ request: ServedRequest)
    /// The answer has reached the engine.
    func told(_ answer: ServedAnswer, to request: ServedRequest)
    /// What an upload has left here.
    var unfinished: [Unfinished] { get }
    /// What was asked to be taken away may still be here: the request was refused, or did not get here.
    func removalFailed(_ request: ServedRequest)
    /// The person has said what is to be sent from now on, knowing what may be here.
    func decided()
    /// The power fails.
    func crash()
    /// Does what it does now and then by itself, such as to throw old uploads away.
    func tidy()
}

extension HTTPServer {
    func place(of request: ServedRequest) -> String? {
        guard ["PUT", "POST", "PATCH"].contains(request.method) else { return nil }
        return ServerDisk.target(ofTemporary: request.path) ?? request.path
    }
    func interim(_ request: ServedRequest) -> ServedAnswer? { nil }
    func received(_ piece: [UInt8], _ request: ServedRequest) {}
    func labour(_ request: ServedRequest) -> Labour? { nil }
    func broken(_ request: ServedRequest) {}
    func told(_ answer: ServedAnswer, to request: ServedRequest) {}
    var unfinished: [Unfinished] { [] }
    func removalFailed(_ request: ServedRequest) {}
    func decided() {}
    func crash() {}
    func tidy() {}
}
