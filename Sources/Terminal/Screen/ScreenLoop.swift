import LinuxSystem

/// The event loop of a screen, on the thread that made it: keys, signals, timers and the jobs of the actor that draws.
///
/// The main thread's loop, so that no other thread ever touches ncurses, whose state is global. It is the executor of
/// one actor; handlers enter it by `assumeIsolated`. With nothing typed, sent or due it never wakes.
package final class ScreenLoop: Sendable {
    private let loop: EventLoop

    /// Adopts the calling thread.
    package init() throws(TerminalError) {
        do { loop = try EventLoop(adoptingCurrentThread: ()) } catch { throw .noLoop(reason: "\(error)") }
    }

    /// For `unownedExecutor` of the actor that draws.
    package var executor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// Turns until `stop`; on the thread that made it.
    package func run() { loop.run() }

    /// Ends `run` after the current turn.
    package func stop() { loop.stop() }

    /// Calls `handler` whenever something was typed or a signal came: it should then read both. On the loop.
    package func watch(_ screen: Screen, _ handler: @escaping () -> Void) throws(TerminalError) -> ScreenWatch {
        do {
            let input = try loop.register(screen.inputDescriptor, .read) { _ in handler() }
            let signals = try loop.register(screen.signalDescriptor, .read) { _ in handler() }
            return ScreenWatch(input: input, signals: signals)
        } catch {
            throw .noLoop(reason: "\(error)")
        }
    }

    /// The terminal is gone: a descriptor at its end would be ready for ever. On the loop.
    package func stopReading(_ watch: ScreenWatch) { loop.cancel(watch.input) }

    /// Calls `handler` once when the terminal takes output again. On the loop.
    package func whenWritable(_ screen: Screen, _ handler: @escaping () -> Void) {
        let registration = RegistrationBox()
        registration.value = try? loop.register(screen.outputDescriptor, .write) { [loop] _ in
            if let value = registration.value { loop.cancel(value) }
            handler()
        }
    }

    /// Calls `handler` once after `delay`. On the loop.
    package func schedule(after delay: Duration, _ handler: @escaping () -> Void) -> ScreenTimer {
        ScreenTimer(timer: loop.schedule(after: delay, handler))
    }

    /// Forgets a timer. On the loop.
    package func cancel(_ timer: ScreenTimer) { loop.cancel(timer.timer) }

    /// Runs `handler` when all that is due now has been handled: the place to draw. On the loop.
    package func atEndOfTurn(_ handler: @escaping () -> Void) { loop.atEndOfTurn(handler) }

    private final class RegistrationBox {
        var value: Registration?
    }
}

/// The registrations that watch a screen: its input and its signals.
package struct ScreenWatch: Sendable {
    fileprivate let input: Registration
    fileprivate let signals: Registration
}

/// A timer of a `ScreenLoop`.
package struct ScreenTimer: Sendable, Hashable {
    fileprivate let timer: LoopTimer
}
