// swift-tools-version: 6.2
import PackageDescription

/// One list of settings for every Swift target: language mode 6, the upcoming features the house is written
/// with, and no warnings at all.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

/// A module of ours. What it may import is said once, here, and again as a table in `.ci/imports`,
/// which the test run compares with the real `import` lines.
func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

/// A C door: a module map and, where the importer refuses a symbol, a shim.
func door(_ name: String) -> Target {
    .systemLibrary(name: name)
}

func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(
        name: name + "Tests", dependencies: dependencies, path: "Tests/\(name)", exclude: exclude,
        swiftSettings: settings)
}

let package = Package(
    name: "martlet",
    targets: [
        door("CCurl"), door("CCrypto"), door("CExpat"), .target(name: "CLinux"),
        module("TransferModel"), module("Digests", ["CCrypto"]), module("XMLReader", ["CExpat"]),
        module("TransferProtocols", ["TransferModel", "Digests", "XMLReader"]),
        module("LinuxSystem", ["CLinux"]), module("CurlTransport", ["CCurl", "LinuxSystem"]),
        .target(
            name: "TestSupport", dependencies: ["LinuxSystem"], path: "Tests/Support/TestSupport",
            swiftSettings: settings),
        tests("LinuxSystem", ["LinuxSystem"]),
        tests("CurlTransport", ["CurlTransport", "LinuxSystem", "TestSupport"]),
        tests("TransferProtocols", ["TransferProtocols", "TransferModel"]),
    ]
)
