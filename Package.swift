// swift-tools-version: 6.2
import PackageDescription

/// The settings of every Swift target (STYLE: strict memory safety, warnings are errors).
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableExperimentalFeature("Lifetimes"),
]

let providerKit: Target.Dependency = .product(name: "ProviderKit", package: "ProviderKit")
let providerTestKit: Target.Dependency = .product(name: "ProviderTestKit", package: "ProviderTestKit")
let providerModule: Target.Dependency = .product(name: "ProviderModule", package: "ProviderKit")

/// libipsec-mb exists on x86-64 only; elsewhere libsodium is the one AEAD back end.
#if arch(x86_64)
    let wideVectors: [Target] = [.systemLibrary(name: "CIPSecMB")]
    let wideVectorDependencies: [Target.Dependency] = ["CIPSecMB"]
    let wideVectorLinks: [LinkerSetting] = [.linkedLibrary("IPSec_MB")]
#else
    let wideVectors: [Target] = []
    let wideVectorDependencies: [Target.Dependency] = []
    let wideVectorLinks: [LinkerSetting] = []
#endif

/// The fuzz driver takes the place of the replay test when Scripts/fuzz.sh builds: both are made of Tests/Fuzz/Targets.
let fuzzDependencies: [Target.Dependency] = ["Control", "HostRuntime", "DNS", "WireGuard", "SettingsPush"]
let fuzzing: Target =
    Context.environment["PROVIDERHOST_FUZZ"] == nil
    ? .testTarget(
        name: "FuzzTests", dependencies: fuzzDependencies, path: "Tests/Fuzz", exclude: ["Corpus", "Driver"],
        sources: ["Targets", "Replay"], swiftSettings: strict)
    : .executableTarget(
        name: "Fuzz", dependencies: fuzzDependencies, path: "Tests/Fuzz", exclude: ["Corpus", "Replay"],
        sources: ["Targets", "Driver"], swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])])

let package = Package(
    name: "providerhost",
    products: [
        .executable(name: "providerhost", targets: ["ProviderHost"]),
        .library(name: "Control", targets: ["Control"]),
        .library(name: "WireGuardProvider", type: .dynamic, targets: ["WireGuardProvider"]),
        .library(name: "GatewayProvider", type: .dynamic, targets: ["GatewayProvider"]),
        .library(name: "LoopbackProvider", type: .dynamic, targets: ["LoopbackProvider"]),
        .library(name: "FakeClock", type: .dynamic, targets: ["FakeClock"]),
    ],
    dependencies: [.package(path: "Sources/ProviderKit"), .package(path: "Sources/ProviderTestKit")],
    targets: wideVectors + [
        // C: our own shims, then module maps of system libraries.
        // The `link` line of a module map serves importing Swift code only, not C that includes the header.
        .target(
            name: "CTun", dependencies: ["CSodium"] + wideVectorDependencies,
            linkerSettings: [.linkedLibrary("sodium")] + wideVectorLinks),
        .systemLibrary(name: "CSodium"),
        .systemLibrary(name: "CBlake2"),
        .systemLibrary(name: "CMnl"),
        .systemLibrary(name: "CSQLite"),
        .systemLibrary(name: "COpenSSL"),
        .systemLibrary(name: "CSystemd"),

        // Pure: no socket, thread, clock or random source inside.
        .target(name: "DNS", swiftSettings: strict),
        .target(name: "WireGuard", dependencies: ["CSodium", "CBlake2"], swiftSettings: strict),
        .target(name: "Session", dependencies: [providerKit], swiftSettings: strict),
        .target(name: "OnDemand", dependencies: [providerKit], swiftSettings: strict),
        .target(name: "SettingsPush", dependencies: [providerKit, "WireGuard"], swiftSettings: strict),

        // Effects.
        .target(name: "PacketPath", dependencies: ["CTun"], swiftSettings: strict),
        .target(name: "SQLite", dependencies: ["CSQLite"], swiftSettings: strict),
        .target(
            name: "GatewayRegistry", dependencies: [providerKit, "WireGuard", "SettingsPush", "SQLite"],
            swiftSettings: strict),
        .target(name: "Netlink", dependencies: ["CMnl"], swiftSettings: strict),
        .target(
            name: "SystemStore", dependencies: [providerKit, "SQLite", "CSodium", "COpenSSL"], swiftSettings: strict),
        .target(
            name: "NetworkSettings", dependencies: [providerKit, "Netlink", "CTun", "CSystemd"], swiftSettings: strict),

        .target(name: "Control", dependencies: [providerKit], swiftSettings: strict),

        // Joins and the executable.
        .target(
            name: "HostRuntime",
            dependencies: [
                providerKit, "DNS", "Session", "OnDemand", "PacketPath", "Netlink", "NetworkSettings", "SystemStore",
                "Control", "CTun",
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "ProviderHost",
            dependencies: ["HostRuntime", "Control", "GatewayRegistry", "SettingsPush", "WireGuard", providerKit],
            resources: [.copy("Bundles")], swiftSettings: strict),

        // Provider bundles.
        .target(
            name: "WireGuardProvider",
            dependencies: [providerKit, providerModule, "DNS", "WireGuard", "SettingsPush", "PacketPath"],
            path: "Sources/Providers/WireGuardProvider", swiftSettings: strict),
        .target(
            name: "GatewayProvider",
            dependencies: [
                providerKit, providerModule, "WireGuardProvider", "GatewayRegistry", "SettingsPush", "WireGuard",
                "PacketPath",
            ],
            path: "Sources/Providers/GatewayProvider", swiftSettings: strict),
        .target(
            name: "LoopbackProvider", dependencies: [providerKit, providerModule],
            path: "Sources/Providers/LoopbackProvider", swiftSettings: strict),

        // Measures throughput, memory and cost; beside the products, never part of them.
        .target(name: "CAllocationCount", path: "Benchmarks/CAllocationCount"),
        .target(name: "CBlaster", path: "Benchmarks/CBlaster"),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "PacketPath", "WireGuard", "WireGuardProvider", "SettingsPush", "GatewayRegistry", "CTun",
                "CAllocationCount", "CBlaster",
            ],
            path: "Benchmarks", exclude: ["CAllocationCount", "CBlaster", "Thresholds"], swiftSettings: strict),

        // Tests mirror modules.
        fuzzing,
        .testTarget(name: "BenchmarksTests", dependencies: ["Benchmarks", "WireGuard"], swiftSettings: strict),
        .testTarget(name: "DNSTests", dependencies: ["DNS", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "WireGuardTests", dependencies: ["WireGuard"], swiftSettings: strict),
        .testTarget(
            name: "SettingsPushTests", dependencies: ["SettingsPush", "WireGuard", providerKit], swiftSettings: strict),
        .testTarget(name: "SessionTests", dependencies: ["Session", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "OnDemandTests", dependencies: ["OnDemand", providerKit], swiftSettings: strict),
        .testTarget(
            name: "WireGuardProviderTests",
            dependencies: [
                "WireGuardProvider", "WireGuard", "SettingsPush", "PacketPath", providerKit, providerTestKit,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "GatewayProviderTests",
            dependencies: [
                "GatewayProvider", "WireGuardProvider", "GatewayRegistry", "SettingsPush", "WireGuard", providerKit,
            ],
            swiftSettings: strict),
        .testTarget(name: "PacketPathTests", dependencies: ["PacketPath"], swiftSettings: strict),
        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: strict),
        .testTarget(name: "SQLiteTests", dependencies: ["SQLite"], swiftSettings: strict),
        .testTarget(
            name: "GatewayRegistryTests",
            dependencies: ["GatewayRegistry", "SettingsPush", "WireGuard", "SQLite", providerKit],
            swiftSettings: strict),
        .testTarget(
            name: "SystemStoreTests", dependencies: ["SystemStore", "SQLite", "TestSupport", providerKit],
            swiftSettings: strict),
        .testTarget(name: "NetlinkTests", dependencies: ["Netlink", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "NetworkSettingsTests", dependencies: ["NetworkSettings", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "ProviderKitTests", dependencies: [providerKit, providerTestKit], swiftSettings: strict),
        .testTarget(name: "ControlTests", dependencies: ["Control", providerKit], swiftSettings: strict),
        .testTarget(
            name: "HostRuntimeTests",
            dependencies: [
                "HostRuntime", "Control", "SystemStore", "PacketPath", "Netlink", "NetworkSettings", "OnDemand",
                "LoopbackProvider", "TestSupport", providerKit,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ProviderHostTests",
            dependencies: [
                "ProviderHost", "HostRuntime", "GatewayRegistry", "SettingsPush", "WireGuard", "LoopbackProvider",
                "WireGuardProvider", providerKit,
            ],
            swiftSettings: strict),
        // A process that uses a store, for tests that cut its power, fail its system calls, or let several of it run.
        .executableTarget(
            name: "StoreExercise", dependencies: ["SystemStore", providerKit], path: "Tests/StoreExercise",
            swiftSettings: strict),
        // A wall clock for programs under test to preload.
        .target(name: "FakeClock", path: "Tests/FakeClock"),
        // Real interfaces, real packets, real peers: runs the products that the build left beside it.
        .testTarget(
            name: "SystemTests",
            dependencies: [
                "ProviderHost", "WireGuardProvider", "GatewayProvider", "LoopbackProvider", "StoreExercise",
                "Benchmarks", "TestSupport", "Control", providerKit,
            ],
            swiftSettings: strict),
    ]
)
