import DisplayText
import MartletKit

/// `V` and `:verify`: is all of it there, now?
extension Model {
    mutating func verify(_ rows: [NodeRow]) {
        guard !rows.isEmpty else { return complain("No row is selected. Mark a row, or name a batch: :verify b7") }
        verify(rows.map { nodeID(of: $0) }, title(rows), readsBack: false)
    }

    /// Verifies the named nodes, else the marked rows, else the cursor's row.
    mutating func verify(_ text: String) {
        guard canAct() else { return }
        var (nodes, words) = nodes(in: text)
        let readsBack = words == ["read-back"]
        if readsBack { words = [] }
        guard words.isEmpty else { return usage(.verify) }
        let rows = targets
        if nodes.isEmpty, rows.isEmpty {
            return complain("No row is selected. Mark a row, or name a batch: :verify b7")
        }
        let name = nodes.isEmpty ? title(rows) : appearance.safe(nodes.map(\.description).joined(separator: " "))
        if nodes.isEmpty { nodes = rows.map { nodeID(of: $0) } }
        verify(nodes, name, readsBack: readsBack)
    }

    mutating func verify(_ nodes: [NodeID], _ name: SafeText, readsBack: Bool) {
        let isAsked = requests.outstanding.values.contains {
            if case .verifying(_, nodes) = $0.purpose { true } else { false }
        }
        if isAsked { return say("The server is being asked about \(name) already.") }
        say("Asking the server about \(name)...")
        ask(.verifying(name, nodes), isPatient: true) { .verify(nodes, readsBack: readsBack, number: $0) }
    }

    mutating func verified(_ news: VerifyNews, _ number: Int) {
        guard case .verifying(let name, _)? = requests.outstanding[number]?.purpose else { return }
        guard news.isOver else {
            let read = news.read.map { ", read \(appearance.figures.size($0.bytes)) of it back" } ?? ""
            return say(
                "Asking the server about \(name): \(Figures.count(news.found)) of \(Figures.amount(news.files, "file"))\(read)...",
                isLogged: true)
        }
        requests.outstanding[number] = nil
        if let refusal = news.refusal { return complain(advised(refusal)) }
        let listed =
            news.files > 0 && news.files == news.unlistedFiles
            ? "nothing could be compared"
            : ListedFiles(found: news.found, of: news.files - news.unlistedFiles).sentence.map { SafeText($0) }
        let read: SafeText? = news.read.map {
            "read back, \(Figures.count($0.same)) of \(Figures.count($0.files)) byte for byte the same"
        }
        guard let listed else { return say("\(name): nothing of it was completed, so nothing is at the server.") }
        let counts: SafeText = "\(name): \(listed)" + (read.map { "; \($0)" } ?? "")
        if news.isWhole { return say("\(counts).") }
        if news.absent > 0 {
            return complain("\(counts). \(key(.problems)) says what it is; \(key(.retry)) sends again what is missing.")
        }
        if news.unsent > 0 {
            return complain("\(counts); \(Figures.count(news.unsent)) not sent: \(key(.why)) says why.")
        }
        complain("\(counts): \(appearance.safe(news.reason ?? "the rest could not be compared"))")
    }
}
