import CSystemd
import LinuxSystem
import Testing

/// A desktop's server for notifications on a bus. It answers two calls and writes down what it was told.
struct FakeDesktop {
    /// The reasons for which the desktop could not be played.
    struct Failed: Error {
        let step: String
        let errno: Errno
    }

    /// What a Notify told: its strings, and its urgency.
    struct Told: Equatable {
        var name = "", icon = "", summary = "", body = ""
        var hints: [String: String] = [:]
        var expiry: Int32 = 0
    }

    /// The capabilities it answers; `nil`: it does not know the question.
    let capabilities: [String]?

    /// Serves until a notification was taken. Blocks.
    func serve(on address: String, ready: () -> Void) throws -> Told {
        var made: OpaquePointer?
        try check("new", sd_bus_new(&made))
        let bus = try #require(made)
        defer { sd_bus_flush_close_unref(bus) }
        try check("address", sd_bus_set_address(bus, address))
        try check("client", sd_bus_set_bus_client(bus, 1))
        try check("start", sd_bus_start(bus))
        try check("name", sd_bus_request_name(bus, "org.freedesktop.Notifications", 0))
        ready()
        let question = try next(bus)
        defer { sd_bus_message_unref(question) }
        #expect(member(of: question) == "GetCapabilities")
        if let capabilities {
            try answer(question) { reply in
                try check("open", sd_bus_message_open_container(reply, type("a"), "s"))
                for word in capabilities { try check("word", sd_bus_message_append_basic(reply, type("s"), word)) }
                try check("close", sd_bus_message_close_container(reply))
            }
        } else {
            try check("refuse", sd_bus_reply_method_errno(question, -1, nil))
        }
        let order = try next(bus)
        defer { sd_bus_message_unref(order) }
        #expect(member(of: order) == "Notify")
        let told = try read(order)
        try answer(order) { reply in
            var number: UInt32 = 1
            try check("number", sd_bus_message_append_basic(reply, type("u"), &number))
        }
        return told
    }

    /// The next call. What sd-bus hands out it does not answer by itself.
    private func next(_ bus: OpaquePointer) throws -> OpaquePointer {
        while true {
            var message: OpaquePointer?
            let result = sd_bus_process(bus, &message)
            try check("process", result)
            if let message {
                if sd_bus_message_is_method_call(message, nil, nil) > 0 { return message }
                sd_bus_message_unref(message)
            }
            if result == 0 { try check("wait", sd_bus_wait(bus, UInt64.max)) }
        }
    }

    private func answer(_ call: OpaquePointer, _ contents: (OpaquePointer) throws -> Void) throws {
        var made: OpaquePointer?
        try check("return", sd_bus_message_new_method_return(call, &made))
        let reply = try #require(made)
        defer { sd_bus_message_unref(reply) }
        try contents(reply)
        try check("send", sd_bus_send(nil, reply, nil))
    }

    private func read(_ order: OpaquePointer) throws -> Told {
        var told = Told()
        told.name = try string(order)
        var replaces: UInt32 = 0
        try check("replaces", sd_bus_message_read_basic(order, type("u"), &replaces))
        told.icon = try string(order)
        told.summary = try string(order)
        told.body = try string(order)
        try check("actions", sd_bus_message_skip(order, "as"))
        try check("hints", sd_bus_message_enter_container(order, type("a"), "{sv}"))
        while sd_bus_message_enter_container(order, type("e"), "sv") > 0 {
            let name = try string(order)
            if sd_bus_message_enter_container(order, type("v"), "y") > 0 {
                var byte: UInt8 = 0
                try check("byte", sd_bus_message_read_basic(order, type("y"), &byte))
                told.hints[name] = String(byte)
            } else {
                try check("variant", sd_bus_message_enter_container(order, type("v"), "s"))
                told.hints[name] = try string(order)
            }
            try check("variant's end", sd_bus_message_exit_container(order))
            try check("hint's end", sd_bus_message_exit_container(order))
        }
        try check("hints' end", sd_bus_message_exit_container(order))
        try check("expiry", sd_bus_message_read_basic(order, type("i"), &told.expiry))
        return told
    }

    private func string(_ message: OpaquePointer) throws -> String {
        var text: UnsafePointer<CChar>?
        try check("string", sd_bus_message_read_basic(message, type("s"), &text))
        return String(cString: try #require(text))
    }

    private func member(of message: OpaquePointer) -> String? {
        sd_bus_message_get_member(message).map { String(cString: $0) }
    }

    private func type(_ code: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: code.value) }

    private func check(_ step: String, _ result: Int32) throws {
        if result < 0 { throw Failed(step: step, errno: Errno(rawValue: -result)) }
    }
}
