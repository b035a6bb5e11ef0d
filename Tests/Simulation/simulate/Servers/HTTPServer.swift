import TransferModel
import WireOperations

/// A request as it comes to a model server, its body piece by piece.
final class ServedRequest {
    let method: String
    /// Without scheme and host, percent-decoded.
    let path: String
    /// Names in lower case.
    let fields: [String: String]
    /// As the request announces it.
    let length: Int
    var body: [UInt8] = []
    /// A file or an upload that the body goes into as it comes.
    var target: RemoteFile?

    init(method: String, path: String, fields: [HeaderField], length: Int) {
        self.method = method
        self.path = path
        self.fields = Dictionary(fields.map { ($0.name.lowercased(), $0.value) }) { _, last in last }
        self.length = length
    }
}

/// A model server's answer to one request.
struct ServedAnswer {
    var status: Int
    var fields: [HeaderField] = []
    var body: [UInt8] = []

    init(_ status: Int, _ fields: [(String, String)] = [], body: [UInt8] = []) {
        self.status = status
        self.fields = fields.map { HeaderField($0.0, $0.1) }
        self.body = body
    }
}

/// A model server that speaks HTTP. `SimulatedHTTP` brings it each request in pieces.
protocol HTTPServer: AnyObject {
    var disk: ServerDisk { get }
    /// The head is here. An answer refuses before a byte of the body is taken.
    func begin(_ request: ServedRequest) -> ServedAnswer?
    /// A piece of the body is here; it is in `request.body` already.
    func received(_ piece: [UInt8], _ request: ServedRequest)
    /// All of the body is here.
    func finish(_ request: ServedRequest) -> ServedAnswer
    /// The line was cut in the middle of the body.
    func broken(_ request: ServedRequest)
}
