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
    products: [
        .executable(name: "martlet", targets: ["martlet"]),
        .executable(name: "martletd", targets: ["martletd"]),
        .executable(name: "martlet-receive", targets: ["martlet-receive"]),
        .library(name: "MartletKit", targets: ["MartletKit"]),
    ],
    targets: [
        // C doors
        door("CCurl"),
        door("CSQLite"),
        door("CNcurses"),
        door("CCrypto"),
        door("CExpat"),
        door("CMicrohttpd"),
        door("CQrencode"),
        door("CGetopt"),
        door("CSystemd"),
        .target(name: "CLinux"),
        .target(name: "CSwiftJobs"),
        .target(name: "CTerminalRescue"),

        // Words and pure decisions
        module("DisplayText"),
        module("TransferModel", ["DisplayText"]),
        module("Configuration", ["DisplayText"]),
        module("CommandLine", ["CGetopt", "Configuration", "LinuxSystem", "DisplayText"]),
        module("Digests", ["CCrypto"]),
        module("XMLReader", ["CExpat", "DisplayText"]),
        module("Wording", ["TransferModel"]),
        module("WireOperations", ["TransferModel"]),
        module("TransferProtocols", ["TransferModel", "DisplayText", "WireOperations", "Digests", "XMLReader"]),

        // Owners of C handles and file descriptors
        module("LinuxSystem", ["CLinux", "CSwiftJobs"]),
        module("CurlTransport", ["CCurl", "LinuxSystem", "TransferModel", "DisplayText", "WireOperations"]),
        module("SSHTransport", ["LinuxSystem", "TransferModel", "DisplayText", "WireOperations"]),
        module("SQLiteConnection", ["CSQLite"]),
        module("SessionBus", ["CSystemd", "LinuxSystem"]),
        module("Terminal", ["CNcurses", "CTerminalRescue", "LinuxSystem", "DisplayText"]),

        // The engine's side
        module("TransferQueue", ["TransferModel", "Wording", "SQLiteConnection", "LinuxSystem", "DisplayText"]),
        module(
            "TransferEngine",
            [
                "TransferModel", "Wording", "WireOperations", "TransferProtocols", "TransferQueue", "CurlTransport",
                "SSHTransport", "LinuxSystem", "Digests",
            ]),
        module("ServiceWire", ["TransferModel"]),
        module(
            "TransferService",
            [
                "TransferEngine", "TransferQueue", "ServiceWire", "TransferModel", "Wording", "LinuxSystem",
                "Configuration", "SessionBus",
            ]),

        // The client's side
        module("MartletKit", ["ServiceWire", "TransferModel", "LinuxSystem", "Configuration"]),
        module("TerminalUI", ["MartletKit", "Wording", "Terminal", "DisplayText", "Configuration"]),
        module("Commands", ["MartletKit", "Wording", "CommandLine", "Configuration", "LinuxSystem", "DisplayText"]),

        // The other end
        module(
            "UploadReceiver",
            ["CMicrohttpd", "CQrencode", "TransferModel", "LinuxSystem", "Digests", "DisplayText"]),

        program("martlet", ["MartletKit", "TerminalUI", "Commands", "CommandLine", "Configuration"]),
        program("martletd", ["TransferService", "CommandLine", "Configuration", "DisplayText"]),
        program("martlet-receive", ["UploadReceiver", "CommandLine", "Configuration", "ServiceWire", "LinuxSystem"]),

        tests("LinuxSystem", ["LinuxSystem"]),
        // What tests of several modules use.
        .target(
            name: "TestSupport", dependencies: ["LinuxSystem"], path: "Tests/Support/TestSupport",
            swiftSettings: settings),
        tests("CurlTransport", ["CurlTransport", "WireOperations", "LinuxSystem", "TransferModel", "TestSupport"]),
        tests("SSHTransport", ["SSHTransport", "WireOperations", "LinuxSystem", "TransferModel", "TestSupport"]),
        tests("TransferModel", ["TransferModel", "TestSupport"]),
        tests("Wording", ["Wording", "TransferModel"]),
        tests("SQLiteConnection", ["SQLiteConnection"]),
        .executableTarget(
            name: "queue-bench", dependencies: ["TransferQueue", "TransferModel", "LinuxSystem"],
            path: "Tests/Benchmarks/queue-bench", swiftSettings: settings),
        tests(
            "TransferQueue",
            ["TransferQueue", "TransferModel", "SQLiteConnection", "CSQLite", "LinuxSystem", "TestSupport"]),
        tests(
            "TransferEngine",
            [
                "TransferEngine", "TransferQueue", "TransferProtocols", "TransferModel", "CurlTransport", "LinuxSystem",
                "SQLiteConnection", "Digests", "TestSupport",
            ]),
        tests(
            "TransferProtocols",
            ["TransferProtocols", "WireOperations", "TransferModel", "Wording", "Digests", "TestSupport"]),
        tests("XMLReader", ["XMLReader"]),
        tests("Digests", ["Digests"]),
        tests(
            "UploadReceiver",
            ["UploadReceiver", "LinuxSystem", "Digests", "DisplayText", "martlet-receive", "TestSupport"]),
        tests("DisplayText", ["DisplayText", "TestSupport"]),
        .executableTarget(
            name: "terminal-probe", dependencies: ["Terminal", "DisplayText"], path: "Tests/Support/TerminalProbe",
            swiftSettings: settings),
        tests("Terminal", ["Terminal", "DisplayText", "CNcurses", "terminal-probe", "TestSupport"]),
        tests(
            "Screens",
            ["TerminalUI", "Terminal", "DisplayText", "MartletKit", "Wording", "Configuration", "TestSupport"],
            exclude: ["Pictures"]),
        tests("ServiceWire", ["ServiceWire", "TransferModel", "TestSupport"]),
        tests("MartletKit", ["MartletKit", "ServiceWire", "TransferModel", "LinuxSystem", "martletd", "TestSupport"]),
        tests(
            "TransferService",
            [
                "TransferService", "TransferQueue", "TransferEngine", "ServiceWire", "TransferModel", "Wording",
                "LinuxSystem", "SQLiteConnection", "SessionBus", "Configuration", "TestSupport",
            ]),
        tests("SessionBus", ["SessionBus", "CSystemd", "LinuxSystem", "TestSupport"]),
        tests("Configuration", ["Configuration", "ServiceWire", "TestSupport"]),
        tests("CommandLine", ["CommandLine", "Configuration", "TestSupport"]),
        tests(
            "Commands",
            [
                "Commands", "CommandLine", "Configuration", "DisplayText", "MartletKit", "Wording", "LinuxSystem",
                "TerminalUI", "Terminal", "TestSupport",
            ]),

        // The engine in a world that a seed decides, and the test that runs some seeds.
        .executableTarget(
            name: "simulate",
            dependencies: [
                "TransferEngine", "TransferQueue", "TransferProtocols", "TransferModel", "WireOperations",
                "CurlTransport", "SSHTransport", "LinuxSystem", "Digests", "SQLiteConnection", "CSQLite",
            ],
            path: "Tests/Simulation/simulate", swiftSettings: settings),
        tests("Simulation", ["LinuxSystem", "simulate"], exclude: ["simulate", "simulations"]),

        // The programs as they are, against real servers. Run apart from the rest: these tests block threads for seconds.
        tests(
            "EndToEnd", ["Digests", "DisplayText", "LinuxSystem", "SQLiteConnection", "TransferModel", "TestSupport"]),
    ]
)
