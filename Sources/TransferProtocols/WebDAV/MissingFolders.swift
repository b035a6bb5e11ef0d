import WireOperations

/// The folders above a target that a server does not make by itself: they are asked for outwards until one can be made, then inwards. The
/// innermost is at place 0.
struct MissingFolders {
    private let folders: [HTTPAddress]
    private var asked = 0
    private var refusals: [Int: ProtocolAction] = [:]

    init(above address: HTTPAddress) { folders = DavMessages.folders(above: address) }

    /// True when none was asked for.
    var canBegin: Bool { asked == 0 && !folders.isEmpty }

    /// The server's word on the innermost folder that it did not want to make.
    var refusal: ProtocolAction? { refusals.min { $0.key < $1.key }?.value }

    mutating func make(_ place: Int) -> Exchange {
        asked += 1
        return DavMessages.makeFolder(folders[place])
    }

    enum Next: Equatable {
        case make(Int)
        case areThere
        case refused
    }

    /// - Parameter refusal: the meaning of the answer, where it is none of those that tell of folders.
    mutating func answered(_ answer: HTTPAnswer, at place: Int, refusal: ProtocolAction) -> Next {
        let inwards = place == 0 ? Next.areThere : .make(place - 1)
        // 405 and a redirect to the same with a slash say that it is there.
        if answer.isSuccess || answer.status == 405 || answer.status == 301 { return inwards }
        let lacksParent = answer.status == 409 || answer.status == 404
        if lacksParent, place + 1 < folders.count, asked <= 2 * folders.count { return .make(place + 1) }
        // Two files may make the same folder at the same time, and Apache forbids it to the second one. The next use of the folder shows
        // whether it is there now.
        guard case .fail = refusal, !lacksParent, refusals[place] == nil else { return .refused }
        refusals[place] = refusal
        return inwards
    }
}
