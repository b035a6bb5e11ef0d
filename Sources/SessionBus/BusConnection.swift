import CSystemd
import Glibc
import LinuxSystem

/// A connection to a session bus, for calls of the desktop's server for notifications; for one thread.
final class BusConnection {
    private let handle: OpaquePointer
    private let end: MonotonicInstant

    /// Connects to the first address that answers, and waits until it has let us in. Corresponds to `sd_bus_start`.
    /// - Parameter end: when the last call must have its answer.
    init(to address: String, until end: MonotonicInstant) throws(SessionBus.Failure) {
        var made: OpaquePointer?
        let result = sd_bus_new(&made)
        guard let made else { throw .silent(Errno(rawValue: -result)) }
        (handle, self.end) = (made, end)
        let steps = [sd_bus_set_address(made, address), sd_bus_set_bus_client(made, 1), sd_bus_start(made)]
        if let failure = steps.first(where: { $0 < 0 }) { throw .noBus(Errno(rawValue: -failure)) }
        // The first call would do this too, but wait for 90 s.
        while sd_bus_is_ready(made) == 0 {
            // A peer may always have something to say but the answer.
            let left = try left()
            var step = sd_bus_process(made, nil)
            if step == 0 { step = sd_bus_wait(made, left) }
            guard step >= 0 || step == -Errno.interrupted.rawValue else { throw .silent(Errno(rawValue: -step)) }
        }
    }

    deinit { sd_bus_close_unref(handle) }

    /// Calls a method and waits for its answer. Corresponds to `sd_bus_call`.
    func call(_ member: String, _ arguments: (BusMessage) -> Void = { _ in }) throws(SessionBus.Failure) -> BusMessage {
        let server = "org.freedesktop.Notifications"
        var made: OpaquePointer?
        var result = sd_bus_message_new_method_call(
            handle, &made, server, "/org/freedesktop/Notifications", server, member)
        guard let made else { throw .silent(Errno(rawValue: -result)) }
        let message = BusMessage(owning: made)
        arguments(message)
        guard message.result >= 0 else { throw .silent(Errno(rawValue: -message.result)) }
        var error = sd_bus_error()
        defer { sd_bus_error_free(&error) }
        var answer: OpaquePointer?
        result = sd_bus_call(handle, made, try left(), &error, &answer)
        if let answer { return BusMessage(owning: answer) }
        if let name = error.name, result != -Errno.timedOut.rawValue { throw .refused(name: String(cString: name)) }
        throw .silent(Errno(rawValue: -result))
    }

    /// The microseconds until the end, at least 1: sd-bus takes 0 for its own default.
    private func left() throws(SessionBus.Failure) -> UInt64 {
        let nanoseconds = MonotonicInstant.now.duration(to: end).nanoseconds
        guard nanoseconds >= 1000 else { throw .silent(.timedOut) }
        return UInt64(nanoseconds / 1000)
    }
}

/// A message of the bus: arguments to be appended to a call, or an answer to be read.
final class BusMessage {
    private let handle: OpaquePointer
    /// The last failure of what was appended, a negative errno; 0 without one.
    private(set) var result: Int32 = 0

    /// Takes one reference over.
    init(owning handle: OpaquePointer) { self.handle = handle }

    deinit { sd_bus_message_unref(handle) }

    func string(_ text: String) { note(text.withCString { sd_bus_message_append_basic(handle, type("s"), $0) }) }

    func number(_ value: UInt32) { basic("u", value) }

    func signed(_ value: Int32) { basic("i", value) }

    func byte(_ value: UInt8) { basic("y", value) }

    func array(_ contents: String, _ elements: () -> Void) { container("a", contents, elements) }

    /// A named value in an array of `{sv}`.
    func entry(_ name: String, _ contents: String, _ value: () -> Void) {
        container("e", "sv") {
            string(name)
            container("v", contents, value)
        }
    }

    /// The strings of an answer that is an array of them; none when it is something else.
    func strings() -> [String] {
        var list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        guard sd_bus_message_read_strv(handle, &list) >= 0, let list else { return [] }
        defer { free(list) }
        var strings: [String] = []
        while let text = list[strings.count] {
            strings.append(String(cString: text))
            free(text)
        }
        return strings
    }

    private func basic(_ code: Unicode.Scalar, _ value: some BitwiseCopyable) {
        note(withUnsafeBytes(of: value) { sd_bus_message_append_basic(handle, type(code), $0.baseAddress) })
    }

    private func container(_ code: Unicode.Scalar, _ contents: String, _ inside: () -> Void) {
        note(sd_bus_message_open_container(handle, type(code), contents))
        inside()
        note(sd_bus_message_close_container(handle))
    }

    private func type(_ code: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: code.value) }

    private func note(_ result: Int32) { if result < 0 { self.result = result } }
}
