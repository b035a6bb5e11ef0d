/// The version that the programs, the manual and the engine's answer name.
package enum ProductVersion {
    package static let current = "0.1.0"
    /// When the manual last changed in substance, as the man pages show it.
    package static let manualDate = "November 21, 2026"
}
