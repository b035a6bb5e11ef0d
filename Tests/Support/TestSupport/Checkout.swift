/// The checkout that these tests were built from: servers, pictures and documents are looked for in it.
package enum Checkout {
    /// Its top folder, without a slash at the end. It is counted from this file, so that other test files can move.
    package static let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")

    /// Script of a real server, `Tests/Servers/NAME`.
    package static func server(_ name: String) -> String { "\(root)/Tests/Servers/\(name)" }

    /// File or folder in `Resources`, by its path there.
    package static func resource(_ path: String) -> String { "\(root)/Resources/\(path)" }
}
