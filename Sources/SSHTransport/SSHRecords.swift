/// The lines of one output of ssh, in order, parted where ssh begins to repeat a peer.
///
/// Whoever answers at the port, or is in between, can have ssh log words before any key was looked at, and ssh leaves line ends in them.
/// So all lines from the first that repeats a peer may be the peer's, however they read. A real ssh gives no verdict on a host's key after
/// such a line.
struct SSHRecords: Hashable {
    /// ssh has written them of itself.
    let own: [String]
    /// The first line that repeats a peer: it begins with ssh's own words and ends with the peer's.
    let repeating: String?
    /// The lines behind it: nobody can tell whose they are.
    let doubtful: [String]

    /// - Parameter repeating: the first line that repeats a peer, where it stood before all these lines.
    init(_ lines: [String], after repeating: String? = nil) {
        if let repeating {
            (own, self.repeating, doubtful) = ([], repeating, lines)
        } else {
            let first = lines.firstIndex(where: Self.repeatsPeer) ?? lines.endIndex
            own = Array(lines[..<first])
            self.repeating = first < lines.endIndex ? lines[first] : nil
            doubtful = Array(lines[first...].dropFirst())
        }
    }

    var isEmpty: Bool { own.isEmpty && repeating == nil && doubtful.isEmpty }
    var all: [String] { own + (repeating.map { [$0] } ?? []) + doubtful }
    /// The line that says most about the end, for a person.
    var last: String? { repeating ?? own.last ?? doubtful.last }

    /// The beginnings, in lower case, of the lines in which the client of OpenSSH 6 to 10 prints words of a peer at the levels INFO to FATAL;
    /// with `-v` those that may have line ends. The instructions of a login by questions have no beginning to know them by (sshconnect2.c, most
    /// versions): only a server whose key was accepted comes that far, and only with a password of ours.
    private static let beginnings = [
        // packet.c: SSH_MSG_DISCONNECT, which needs no key. "Received disconnect from %s port %d:%u: %.400s"
        "received disconnect from ",
        // kex.c, earlier sshconnect.c: the server's first line.
        "bad remote protocol version identification: ",
        // packet.c: the list of methods that the server offers; in versions before 6.8 by kex.c as "no matching cipher found: client … server …".
        "unable to negotiate with ", "no matching ",
        // ssh.c: a name that a name server gave.
        "ignoring bad cname ",
        // channels.c: "WARNING: Server requests forwarding for unknown path %.100s"
        "warning: server requests forwarding for unknown path ",
        // packet.c: SSH_MSG_DEBUG; sshconnect2.c and kex.c: names of methods.
        "debug1: remote: ", "debug1: authentications that can continue: ", "debug1: kex_input_ext_info: ",
        "debug2: peer server kexinit proposal", "debug2: kex_parse_kexinit: ",
    ]

    static func repeatsPeer(_ line: String) -> Bool {
        let line = line.lowercased()
        return beginnings.contains { line.hasPrefix($0) } || isRefusal(line)
            // channels.c: "channel %d: open failed: %s%s%s"
            || line.hasPrefix("channel ") && line.contains(": open failed: ")
    }

    /// `user@host: Permission denied (publickey,password).`: in brackets are the methods that the server named last (sshconnect2.c).
    /// - Parameter line: in lower case.
    static func isRefusal(_ line: String) -> Bool {
        guard let place = line.firstRange(of: "permission denied (")?.lowerBound else { return false }
        let beginning = line[..<place]
        return beginning.isEmpty || beginning.hasSuffix(": ") && !beginning.dropLast(2).contains(" ")
    }
}
