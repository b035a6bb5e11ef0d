/// The version of all programs of this build, which belong together.
public enum MartletVersion {
    /// Semantic version: `0.1.0`.
    public static let current = "0.1.0"
}
