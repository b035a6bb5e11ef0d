import Glibc

extension System {
    /// Waits until a descriptor can be read or written, an error or a hang-up counting as both; false when the time is up.
    /// For threads of their own; on an ``EventLoop`` only to look, with no time to wait. Corresponds to `poll`.
    package static func poll(_ descriptor: Int32, _ interest: Interest, timeout: Duration) throws(Errno) -> Bool {
        var events: Int16 = 0
        if interest.contains(.read) { events |= Int16(POLLIN) }
        if interest.contains(.write) { events |= Int16(POLLOUT) }
        var wanted = pollfd(fd: descriptor, events: events, revents: 0)
        return try systemCall(.epollWait, descriptor: descriptor) {
            Glibc.poll(&wanted, 1, timeout.millisecondsRoundedUp)
        } > 0
    }
}
