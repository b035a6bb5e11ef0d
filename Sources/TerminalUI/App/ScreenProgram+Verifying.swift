import MartletKit

/// Asking servers whether what was sent is there, which may take as long as fetching it.
extension ScreenProgram {
    /// Verifies one node after the other and tells its progress at most five times a second. - Returns: the result of all.
    func verify(_ nodes: [NodeID], readsBack: Bool, _ number: Int) async -> VerifyNews {
        var news = VerifyNews()
        var told = ContinuousClock.now
        func tell() {
            guard ContinuousClock.now - told > .milliseconds(200) else { return }
            told = ContinuousClock.now
            take(.answer(.verified(news, number: number)))
        }
        for node in nodes {
            do throws(RequestError) {
                let before = news.files
                let total = try await engine.verify(node) { folder in
                    news.add(folder)
                    tell()
                }
                news.unsent += max(0, total - (news.files - before))
                guard readsBack else { continue }
                let read = news.read ?? VerifyNews.Read()
                news.read = read
                try await engine.readBack(node) { progress in
                    news.add(progress, to: read)
                    tell()
                }
            } catch {
                news.refusal = error
            }
        }
        news.isOver = true
        return news
    }
}
