/// Bytes of which no block of a usual size looks like another, and none at its place like that of another seed. They are made by copying:
/// tests are not optimised, and a closure for each byte costs more than the transfer.
package func pattern(_ count: Int, seed: Int = 0) -> [UInt8] {
    let run = (0..<min(count, 65_521)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8 &+ seed) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count { bytes += run.prefix(count - bytes.count) }
    return bytes
}
