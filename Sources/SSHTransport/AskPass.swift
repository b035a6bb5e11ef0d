import Glibc
import LinuxSystem

/// Gives a password to one `ssh` (SSH_ASKPASS), so that no other user, no file and no program's arguments or environment ever has it.
///
/// `ssh` closes what it inherits, so a pipe cannot be handed down; it is a named one in a folder of ours (0700), which only this user can
/// open. Its bytes are in the kernel alone and gone with this value, at the latest when `ssh` is in. The script that `ssh` runs reads one
/// line of it: only for questions for a password or passphrase, and only for the `ssh` that we started, because one that it starts to
/// get through a jump host asks for that host's password.
final class AskPass {
    /// An option of our `ssh` alone, by which the script knows it. It has a meaning, too: a wrong password is tried once.
    static let marker = "-oNumberOfPasswordPrompts=1"

    /// `NAME=value` for the child.
    let environment: [[UInt8]]
    private let pipe: NamedPipe

    init(_ password: [UInt8], folder: [UInt8]) throws(Errno) {
        // Another user's folder, or one that others can look into, is no place for it.
        pipe = try NamedPipe(in: folder, "answer")
        let script = folder + Array("/askpass".utf8)
        try Self.install(script)
        environment = [
            Array("SSH_ASKPASS=".utf8) + script, Array("SSH_ASKPASS_REQUIRE=force".utf8),
            Array("MARTLET_ANSWER=".utf8) + pipe.path,
        ]
        // Keyboard-interactive, password, a key's passphrase: each question takes a line.
        let lines = Array(repeatElement(password + [0x0A], count: 4).joined())
        try Self.write(lines, to: pipe.descriptor)
    }

    private static let text = """
        #!/bin/sh
        # Answers a question of the ssh that Martlet started.
        case $1 in
        *yes/no* | *fingerprint*) exit 1 ;;
        *[Pp]assword* | *[Pp]assphrase*) ;;
        *) exit 1 ;;
        esac
        grep -q -e '\(marker)' "/proc/$PPID/cmdline" || exit 1
        IFS= read -r answer <"$MARTLET_ANSWER" || exit 1
        printf '%s\\n' "$answer"

        """

    /// Written anew each time, in one step: two transports may share the folder.
    private static func install(_ script: [UInt8]) throws(Errno) {
        let number = try System.randomBytes(8).map { String($0, radix: 16) }.joined()
        let part = script + Array(".\(number)".utf8)
        do throws(Errno) {
            let file = try System.open(part, flags: O_WRONLY | O_CREAT | O_EXCL, mode: 0o700)
            try System.fchmod(file.rawValue, mode: 0o700)
            try write(Array(text.utf8), to: file)
            file.close()
            try System.rename(part, to: script)
        } catch {
            try? System.unlink(part)
            throw error
        }
    }

    private static func write(_ bytes: [UInt8], to file: OwnedDescriptor) throws(Errno) {
        let written = bytes.withUnsafeBytes { buffer in
            Result { () throws(Errno) in try System.writeAll(file.rawValue, buffer) }
        }
        try written.get()
    }
}
