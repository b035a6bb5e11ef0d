import Glibc

/// The user database's entry of the user who runs this process.
package struct UserEntry: Sendable {
    package let name: String
    package let home: String
    package let groupID: UInt32

    /// Corresponds to `getpwuid_r`; `nil`: the user is not in the database.
    package static var own: UserEntry? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16384) { buffer in
            guard let base = buffer.baseAddress,
                getpwuid_r(getuid(), &entry, base, buffer.count, &found) == 0, found != nil,
                let name = entry.pw_name.flatMap({ String(validatingCString: $0) }), let home = entry.pw_dir
            else { return nil }
            return UserEntry(name: name, home: String(cString: home), groupID: entry.pw_gid)
        }
    }

    /// Returns true when the group is this user's alone, as many distributions make one for each user: of the user's name, and with nobody
    /// else in it. Corresponds to `getgrgid_r`.
    package func ownsGroup(_ id: UInt32) -> Bool {
        guard id == groupID else { return false }
        var entry = group()
        var found: UnsafeMutablePointer<group>?
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 65536) { buffer in
            guard let base = buffer.baseAddress, getgrgid_r(id, &entry, base, buffer.count, &found) == 0,
                found != nil, let groupName = entry.gr_name, strcmp(groupName, name) == 0
            else { return false }
            var member = entry.gr_mem
            while let text = member?.pointee {
                if strcmp(text, name) != 0 { return false }
                member = member?.advanced(by: 1)
            }
            return true
        }
    }
}
