import Glibc

/// Whether tests may mount file systems of their own: root may, but not in every container.
package enum Mounting {
    package static let isAllowed: Bool = {
        guard geteuid() == 0, let sandbox = try? Sandbox("martlet-mount") else { return false }
        let place = String(decoding: sandbox.path, as: UTF8.self)
        guard mount("tmpfs", place, "tmpfs", 0, "size=64k") == 0 else { return false }
        umount2(place, Int32(MNT_DETACH))
        return withExtendedLifetime(sandbox) { true }
    }()
}
