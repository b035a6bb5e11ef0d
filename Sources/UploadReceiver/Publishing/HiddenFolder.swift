import Glibc
import LinuxSystem

/// The receiver's own folders inside the served one, which others may be able to write to: such a folder is used only when it is this
/// user's, and nobody else can put anything into it.
enum HiddenFolder {
    /// Their names; no request reaches below them.
    static let names = [IncomingFolder.name, UploadID.folderName]

    /// Refuses a served folder in which somebody has prepared one of them.
    static func check(in folder: [UInt8]) throws(ReceiverError) {
        guard let root = try? System.open(folder, flags: O_RDONLY | O_DIRECTORY) else { return }
        for name in names {
            do throws(PrivacyFailure) {
                _ = try openPrivate(name, in: root.rawValue, making: false)
            } catch .failed(.noSuchFile) {
            } catch {
                throw .hiddenFolder(name: name, error)
            }
        }
    }

    /// Opens one of them, and makes it when it is missing and `making`. What is not ours is `EACCES`.
    static func open(_ name: String, in root: Int32, making: Bool) throws(Errno) -> OwnedDescriptor {
        do throws(PrivacyFailure) { return try openPrivate(name, in: root, making: making) } catch { throw error.errno }
    }

    private static func openPrivate(
        _ name: String, in root: Int32, making: Bool
    ) throws(PrivacyFailure) -> OwnedDescriptor {
        do throws(PrivacyFailure) {
            return try System.openPrivateFolder(Array(name.utf8), at: root, making: making)
        } catch .shared {
            return try withdraw(name, in: root)
        }
    }

    /// Takes the bits for others away. File systems without permissions (FAT) keep those of the mount; there others may read, as they
    /// may read every file of the folder, but not write.
    private static func withdraw(_ name: String, in root: Int32) throws(PrivacyFailure) -> OwnedDescriptor {
        let folder: OwnedDescriptor
        let status: FileStatus
        do throws(Errno) {
            folder = try System.openat(root, Array(name.utf8), flags: O_RDONLY | O_DIRECTORY)
            guard try System.fstat(folder.rawValue).userID == System.userID else { throw .notPermitted }
            // Refused where there are no permissions; what the folder has then is looked at next.
            try? System.fchmod(folder.rawValue, mode: 0o700)
            status = try System.fstat(folder.rawValue)
        } catch {
            throw .failed(error)
        }
        guard status.permissions & 0o022 == 0 else { throw .shared(permissions: status.permissions) }
        return folder
    }
}
