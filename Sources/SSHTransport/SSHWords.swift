/// Everything that an ssh child has said, line by line and harmless.
struct SSHWords: Hashable {
    /// The lines that ssh itself has logged (`-E`). Empty for a program that knows no such option.
    let log: SSHRecords
    /// Its standard error. Anybody may have written to it: servers have banners, their programs have words, and hosts on the way have an
    /// ssh of their own.
    let others: SSHRecords
}
