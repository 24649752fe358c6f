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
let providerModule: Target.Dependency = .product(name: "ProviderModule", package: "ProviderKit")

/// libipsec-mb exists on x86-64 only; elsewhere libsodium is the one AEAD back end.
#if arch(x86_64)
    let wideVectors: [Target] = [.systemLibrary(name: "CIPSecMB")]
    let wideVectorDependencies: [Target.Dependency] = ["CIPSecMB"]
#else
    let wideVectors: [Target] = []
    let wideVectorDependencies: [Target.Dependency] = []
#endif

let package = Package(
    name: "providerhost",
    products: [
        .executable(name: "providerhost", targets: ["ProviderHost"]),
        .library(name: "WireGuardProvider", type: .dynamic, targets: ["WireGuardProvider"]),
        .library(name: "LoopbackProvider", type: .dynamic, targets: ["LoopbackProvider"]),
    ],
    dependencies: [.package(path: "Sources/ProviderKit")],
    targets: wideVectors + [
        // C: our own shims, then module maps of system libraries.
        .target(name: "CTun", dependencies: ["CSodium"] + wideVectorDependencies),
        .systemLibrary(name: "CSodium"),
        .systemLibrary(name: "CBlake2"),
        .systemLibrary(name: "CMnl"),

        // Pure: no socket, thread, clock or random source inside.
        .target(name: "WireGuard", dependencies: ["CSodium", "CBlake2"], swiftSettings: strict),
        .target(name: "Session", dependencies: [providerKit], swiftSettings: strict),

        // Effects.
        .target(name: "PacketPath", dependencies: ["CTun"], swiftSettings: strict),
        .target(name: "Netlink", dependencies: ["CMnl"], swiftSettings: strict),
        .target(name: "NetworkSettings", dependencies: [providerKit, "Netlink"], swiftSettings: strict),

        // Joins and the executable.
        .target(
            name: "HostRuntime",
            dependencies: [providerKit, "Session", "PacketPath", "Netlink", "NetworkSettings", "CTun"],
            swiftSettings: strict),
        .executableTarget(
            name: "ProviderHost", dependencies: ["HostRuntime", providerKit], resources: [.copy("Bundles")],
            swiftSettings: strict),

        // Provider bundles.
        .target(
            name: "WireGuardProvider", dependencies: [providerKit, providerModule, "WireGuard", "PacketPath"],
            path: "Sources/Providers/WireGuardProvider", swiftSettings: strict),
        .target(
            name: "LoopbackProvider", dependencies: [providerKit, providerModule],
            path: "Sources/Providers/LoopbackProvider", swiftSettings: strict),

        // Tests mirror modules.
        .testTarget(name: "WireGuardTests", dependencies: ["WireGuard"], swiftSettings: strict),
        .testTarget(name: "SessionTests", dependencies: ["Session"], swiftSettings: strict),
        .testTarget(name: "PacketPathTests", dependencies: ["PacketPath"], swiftSettings: strict),
        .testTarget(name: "NetlinkTests", dependencies: ["Netlink"], swiftSettings: strict),
        .testTarget(name: "NetworkSettingsTests", dependencies: ["NetworkSettings"], swiftSettings: strict),
        .testTarget(name: "ProviderKitTests", dependencies: [providerKit], swiftSettings: strict),
        .testTarget(name: "HostRuntimeTests", dependencies: ["HostRuntime"], swiftSettings: strict),
        // Real interfaces, real packets, real peers: runs the products that the build left beside it.
        .testTarget(
            name: "SystemTests", dependencies: ["ProviderHost", "WireGuardProvider", "LoopbackProvider"],
            swiftSettings: strict),
    ]
)
