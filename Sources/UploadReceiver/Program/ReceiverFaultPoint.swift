import LinuxSystem

/// The points where `MARTLET_FAULT=receive.NAME:N` kills a debug build: one after each step that the disk remembers.
enum ReceiverFaultPoint: String, CrashPoint {
    /// An upload's data and record have their names; its client has not heard of it.
    case made
    /// The length of an upload has become known, durably.
    case measured
    /// Bytes are on the disk; nobody was told.
    case synced
    /// A whole file is sealed and on the disk under its temporary name.
    case publishing
    /// It has its final name; its folder is not synced, and nobody was told.
    case renamed
    /// The record of an upload that is given up is gone, its data is not.
    case forgotten

    static let program = "receive"
}
