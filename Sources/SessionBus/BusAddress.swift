import LinuxSystem

/// An address of a session bus: one of those in `DBUS_SESSION_BUS_ADDRESS` (D-Bus specification, "Server Addresses").
package enum BusAddress: Hashable, Sendable {
    case path([UInt8])
    /// A name that is in no file system.
    case abstract([UInt8])

    /// Those of a list that we can reach, in its order: Unix sockets. Others and malformed ones are left out.
    package static func list(_ text: String) -> [BusAddress] { text.split(separator: ";").compactMap { one($0) } }

    private static func one(_ text: Substring) -> BusAddress? {
        guard text.hasPrefix("unix:") else { return nil }
        for pair in text.dropFirst("unix:".count).split(separator: ",") {
            let parts = pair.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let value = unescaped(parts[1].utf8), !value.isEmpty else { continue }
            switch parts[0] {
            case "path": return .path(value)
            case "abstract": return .abstract(value)
            default: continue
            }
        }
        return nil
    }

    /// `%2f` is a slash; `nil` for what is no such text.
    private static func unescaped(_ text: Substring.UTF8View) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let value = UInt8(String(Substring(rest.prefix(2))), radix: 16) else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return bytes.contains(0) ? nil : bytes
    }

    /// A connected socket that never blocks.
    func connect() throws(Errno) -> OwnedDescriptor {
        switch self {
        case .path(let path):
            let name = path.split(separator: UInt8(ascii: "/")).last.map { Array($0) } ?? []
            let directory = path.dropLast(name.count)
            return try UnixSocket.connect(
                in: directory.isEmpty ? Array("/".utf8) : Array(directory), name: String(decoding: name, as: UTF8.self))
        case .abstract(let name): return try UnixSocket.connect(abstract: name)
        }
    }
}
