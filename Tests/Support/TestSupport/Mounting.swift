import Glibc

/// Whether tests may mount file systems of their own: root may, but not in every container.
package enum Mounting {
    package static let isAllowed: Bool = {
        var name = Array("/tmp/martlet-mount-XXXXXX".utf8CString)
        guard geteuid() == 0, mkdtemp(&name) != nil else { return false }
        defer { rmdir(name) }
        guard mount("tmpfs", name, "tmpfs", 0, "size=64k") == 0 else { return false }
        umount2(name, Int32(MNT_DETACH))
        return true
    }()
}
