import Glibc

/// Moments at which something is killed: anywhere, and the same for the same seed. `SEED=7` chooses others; a failure says which they were.
struct Moments: CustomStringConvertible {
    let places: [Int64]
    private let seed: UInt64

    /// - Parameters:
    ///   - size: where the end is; it is never reached, so that all of them are in the middle.
    ///   - name: tests of another name have other moments.
    init(_ count: Int, of size: Int64, for name: String) {
        let chosen = getenv("SEED").flatMap { UInt64(String(cString: $0)) } ?? 1
        seed = chosen
        var generator = SeededBytes(seed: name.utf8.reduce(chosen) { $0 &* 31 &+ UInt64($1) })
        let most = UInt64(max(1, size * 85 / 100))
        places = (0..<count).map { _ in Int64(generator.next() % most) }.sorted()
    }

    var description: String { "killed at \(places), SEED=\(seed)" }
}
