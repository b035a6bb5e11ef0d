import Glibc
import LinuxSystem

/// Kills this process at a chosen commit, for end-to-end tests of debug builds. `MARTLET_FAULT=queue.commit:7` dies right
/// before the seventh commit since the start, `queue.committed:7` right after it; `secrets.commit` and `secrets.committed` do so in the
/// store of secrets. In release builds there is nothing of it.
struct CommitFaults {
    #if DEBUG
        private var before: Int?
        private var after: Int?
        private var count = 0

        init(
            of file: String,
            _ text: String? = System.environment("MARTLET_FAULT").map { String(decoding: $0, as: UTF8.self) }
        ) {
            let words = text?.split(separator: ":") ?? []
            guard words.count == 2, let number = Int(words[1]) else { return }
            if words[0] == "\(file).commit" { before = number }
            if words[0] == "\(file).committed" { after = number }
        }

        mutating func beforeCommit() {
            count += 1
            if count == before { die() }
        }

        func afterCommit() {
            if count == after { die() }
        }

        private func die() {
            kill(getpid(), SIGKILL)
        }
    #else
        init(of file: String) {}
        func beforeCommit() {}
        func afterCommit() {}
    #endif
}
