import Glibc

/// Swift's own crash reports.
package enum Backtraces {
    /// Starts the program again, in the same process, with `SWIFT_BACKTRACE` set so that a crash prints its report
    /// without asking questions and without colours. Returns when that has been done, or cannot be.
    ///
    /// The runtime reads the variable before `main`, so setting it there is too late. Without it a crash waits half a
    /// minute at a prompt of the backtracer. To be called first thing in `main`, when a screen will be opened.
    ///
    /// - Parameter arguments: `CommandLine.unsafeArgv`.
    package static func neverAsk(arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) {
        guard getenv("SWIFT_BACKTRACE") == nil else { return }
        setenv("SWIFT_BACKTRACE", "interactive=no,color=no", 1)
        // By its real path, because the kernel names the process after it.
        var path = [CChar](repeating: 0, count: 4096)
        let length = readlink("/proc/self/exe", &path, path.count - 1)
        if length > 0 { execv(path, arguments) }
    }
}
