import TransferModel

/// The entry of `known_hosts` that a server's new key contradicts, as ssh's error lines name it. Its host and file may be others than the
/// URL lets expect: `~/.ssh/config` can give a host another name and another file.
struct KnownKey: Hashable {
    /// As `known_hosts` has it: `host`, or `[host]:port`.
    let name: String
    /// `nil`: the file where everybody looks.
    let file: String?

    /// - Parameter lines: ssh has written them of itself. `nil`: they name no host that a shell could be given.
    init?(_ lines: [String]) {
        let ends = (before: "Host key for ", after: " has changed and you have requested strict checking")
        let names = lines.compactMap { line -> Substring? in
            guard line.hasPrefix(ends.before), let end = line.firstRange(of: ends.after) else { return nil }
            return line[..<end.lowerBound].dropFirst(ends.before.count)
        }
        guard let name = names.last, !name.isEmpty, name.utf8.allSatisfy(Self.isPlain) else { return nil }
        self.name = String(name)
        // "Offending ED25519 key in /home/me/.ssh/known_hosts:3"
        let places = lines.compactMap { line -> Substring? in
            guard line.hasPrefix("Offending "), let start = line.firstRange(of: " key in "),
                let end = line.lastIndex(of: ":"), start.upperBound < end
            else { return nil }
            return line[start.upperBound..<end]
        }
        let place = places.last.flatMap { $0.utf8.allSatisfy(Self.isPlain) ? String($0) : nil }
        file = place?.hasSuffix("/.ssh/known_hosts") == true ? nil : place
    }

    /// The shell command that removes the entry; `nil` where the target is not called so: what another host's key is, is no reason to lose
    /// the known one.
    func removal(for target: SSHTarget) -> String? {
        guard isName(of: target) else { return nil }
        return "ssh-keygen\(file.map { " -f \(Self.quoted($0))" } ?? "") -R \(Self.quoted(name))"
    }

    /// The target's host, or `[host]:port`. A port that the target leaves open is of `~/.ssh/config`.
    private func isName(of target: SSHTarget) -> Bool {
        let (name, host) = (name.lowercased(), target.host.lowercased())
        if name == host { return true }
        guard name.hasPrefix("[\(host)]:"), let port = UInt16(name.dropFirst(host.utf8.count + 3)) else { return false }
        return target.port.map { $0 == port } ?? true
    }

    private static func quoted(_ word: String) -> String { word.contains { "[]~".contains($0) } ? "'\(word)'" : word }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
            || "[]:.-_%/+@,".utf8.contains(byte)
    }
}
