import LinuxSystem

/// One request being served: the effects around the decisions of its kind's machine.
///
/// Each kind of request is a type of its own (`PutRequest`, `GetRequest`; `UploadWriteRequest` and its neighbours) and knows
/// nothing of libmicrohttpd: `ServedExchange` drives it. All calls come from the connection's thread, in this order:
/// `headArrived`, any number of `bytesArrived`, `bodyEnded`, and `workEnded` after a step that was work. Once a step or
/// `bytesArrived` gave an answer nothing but `ended` is called.
protocol ServedRequest: AnyObject {
    /// The head is here: an answer refuses the request before its body is read; `nil` reads on (and tells a client that
    /// waits for it `100 Continue`).
    func headArrived() -> Answer?

    /// A piece of the body; an answer refuses the rest. The buffer is the library's and valid during the call only.
    func bytesArrived(_ bytes: UnsafeRawBufferPointer) -> Answer?

    /// The request is whole.
    func bodyEnded() -> RequestStep

    /// The work of the last step has called `done`.
    func workEnded() -> RequestStep

    /// The exchange is over. Whatever is unfinished is dropped.
    func ended(_ ending: ExchangeEnding)
}

/// The next step that a request wants.
enum RequestStep {
    case answer(Answer)
    /// Something that may block: it is started now, and calls `done` once, on any thread. The connection sleeps meanwhile.
    case work(_ start: (_ done: @escaping @Sendable () -> Void) -> Void)
}

/// The end of an exchange, as far as the server can know it.
enum ExchangeEnding: Equatable, Sendable {
    /// The whole answer was handed to the kernel.
    case answered
    /// The connection broke or was closed before that.
    case cut
    /// The connection was silent for too long.
    case silent
    /// The receiver is stopping.
    case stopped
}

/// The objects that all requests share.
final class ReceiverContext: Sendable {
    let configuration: ReceiverConfiguration
    let doorkeeper: Doorkeeper
    let folder: ServedFolder
    let room: DiskRoom
    let incoming: IncomingFolder
    let publisher: Publisher
    /// For listings, which read whole directories.
    let reader: BlockingWorker
    let listings = ListingMemory()
    let digester: FileDigester
    let journal: ReceiverJournal
    let uploads: UploadStore
    private let sweeper: UploadSweeper

    /// - Parameter names: by which the receiver may be called.
    init(_ configuration: ReceiverConfiguration, _ names: OwnNames, journal: ReceiverJournal) throws(Errno) {
        self.configuration = configuration
        self.journal = journal
        doorkeeper = Doorkeeper(names, configuration.access)
        folder = try ServedFolder(path: configuration.folder)
        room = DiskRoom(
            of: folder.root, keepFree: configuration.limits.keepFree, look: configuration.freeSpace)
        incoming = try IncomingFolder(in: folder.root, room)
        publisher = try Publisher(folder: folder) { journal.report(.notice($0)) }
        reader = try BlockingWorker(name: "list-folders")
        digester = try FileDigester()
        uploads = try UploadStore(in: folder.root, room, configuration.limits, publisher, journal)
        sweeper = try UploadSweeper(uploads)
    }

    /// Ends the workers and the run. No request is served any more.
    func stop() {
        sweeper.stop()
        uploads.stop()
        publisher.stop()
        reader.stop()
        digester.stop()
        incoming.endRun()
    }

    /// Chooses who serves a request that the doorkeeper let in, or the answer that refuses it. A new protocol gets its case here.
    func request(for head: RequestHead) -> Result<any ServedRequest, Rejection> {
        let upload = UploadID(target: head.target)
        if head.method == .options {
            let spoken = SpokenDialect(head.fields)
            return .success(
                FixedRequest(UploadAnswers.capabilities(spoken, configuration.limits, ofUpload: upload != nil)))
        }
        if let upload { return request(for: head, to: upload) }
        let path: TargetPath
        do {
            path = try TargetPath(target: head.target)
        } catch {
            return .failure(Rejection(path: nil, answer: error.answer))
        }
        guard let conditions = Preconditions(head.fields) else {
            let answer = Answer.problem(.badRequest, "If-Match or If-None-Match is neither '*' nor a list of tags")
            return .failure(Rejection(path: path, answer: answer))
        }
        switch head.method {
        case .get, .head:
            return .success(GetRequest(self, head, path, conditions))
        case .put:
            if let beginning = beginning(head, path, conditions) { return beginning }
            if let answer = PutRequest.unsupported(head) { return .failure(Rejection(path: path, answer: answer)) }
            return .success(PutRequest(self, head, path, conditions))
        case .post:
            return beginning(head, path, conditions) ?? notAllowed(path)
        case .options, .patch, .delete, .other:
            return notAllowed(path)
        }
    }

    private func notAllowed(_ path: TargetPath) -> Result<any ServedRequest, Rejection> {
        let answer = Answer.problem(
            .methodNotAllowed, "the receiver takes GET, HEAD, PUT, OPTIONS, and POST that begins a resumable upload")
        return .failure(Rejection(path: path, answer: answer.with([.allow])))
    }
}

/// A request that nobody serves.
struct Rejection: Error {
    let path: TargetPath?
    let answer: Answer
}

/// A request whose answer is known from its head.
final class FixedRequest: ServedRequest {
    private let answer: Answer

    init(_ answer: Answer) { self.answer = answer }

    func headArrived() -> Answer? { nil }
    func bytesArrived(_ bytes: UnsafeRawBufferPointer) -> Answer? { nil }
    func bodyEnded() -> RequestStep { .answer(answer) }
    func workEnded() -> RequestStep { .answer(answer) }
    func ended(_ ending: ExchangeEnding) {}
}
