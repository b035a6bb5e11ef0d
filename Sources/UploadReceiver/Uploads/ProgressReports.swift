/// The rule by which one request is told how much of its upload is on the disk.
///
/// The steps grow with what was told. Clients add up what they take of interim answers (libcurl 300 KiB in one exchange), and a
/// report at every checkpoint would reach that after 20 GB.
struct ProgressReports {
    private let start: UInt64
    private var told: UInt64

    /// - Parameter start: the offset at which the request goes on.
    init(from start: UInt64) { (self.start, told) = (start, start) }

    /// True when that offset is to be told now; it then counts as told.
    mutating func isDue(at offset: UInt64) -> Bool {
        guard offset > told, offset - told >= (told - start) / 32 else { return false }
        told = offset
        return true
    }
}
