// SessionBus: shows a notification on the user's desktop, over the session bus by libsystemd's sd-bus.
//
// For whom: TransferService, when a batch has ended or needs the person. Which thread: `SessionBus` blocks for at most `patience`, so one of
// its own; the rest are values. Start reading here, then `BusConnection`.

import CSystemd
package import LinuxSystem

/// The session bus of the user.
package struct SessionBus: Hashable, Sendable {
    /// The addresses to try in their order, as a bus writes them (D-Bus specification, "Server Addresses"). Only Unix sockets: one that names a
    /// program would start it.
    package let address: String
    /// No desktop takes longer to show a line of text.
    package static let patience = Duration.seconds(5)

    /// - Parameters:
    ///   - variable: `DBUS_SESSION_BUS_ADDRESS`, of whoever has a desktop.
    ///   - runtimeDirectory: where systemd's user bus has its socket, when nothing was told.
    package init(variable: String?, runtimeDirectory: String) {
        let told = (variable ?? "").split(separator: ";").filter { $0.hasPrefix("unix:") }
        address = told.isEmpty ? "unix:path=\(runtimeDirectory)/bus" : told.joined(separator: ";")
    }

    /// The reasons for which nothing was shown.
    package enum Failure: Error, Hashable, Sendable {
        /// Nobody listens there: there is no session bus, and so no desktop.
        case noBus(Errno)
        /// The bus ended the connection, let this user not in, or took longer than `patience`.
        case silent(Errno)
        /// The bus, or the desktop's server, answered so: `org.freedesktop.DBus.Error.ServiceUnknown` when there is no such server.
        case refused(name: String)
    }

    /// Shows a notification; blocks until the desktop has it.
    package func show(_ notification: DesktopNotification, within patience: Duration = patience) throws(Failure) {
        let bus = try BusConnection(to: address, until: MonotonicInstant.now.advanced(by: patience))
        let capabilities: [String]
        do {
            capabilities = try bus.call("GetCapabilities").strings()
        } catch .refused {
            // A server that does not say what it can shows plain text.
            capabilities = []
        }
        _ = try bus.call("Notify") { message in
            message.string("Martlet")
            message.number(0)
            message.string(notification.icon)
            message.string(notification.summary)
            message.string(
                capabilities.contains("body-markup")
                    ? DesktopNotification.escaped(notification.body) : notification.body)
            message.array("s") {}
            message.array("{sv}") {
                message.entry("urgency", "y") { message.byte(notification.urgency.rawValue) }
                message.entry("category", "s") { message.string(notification.category) }
            }
            // As long as the desktop thinks right.
            message.signed(-1)
        }
    }
}
