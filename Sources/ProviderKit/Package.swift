// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "ProviderKit",
    products: [
        // One shared library: host and module must see the same metadata for `PacketTunnelProvider`.
        .library(name: "ProviderKit", type: .dynamic, targets: ["ProviderKit"]),
        // Linked into every module, never into the host: the stamp that the host compares before it calls Swift code.
        .library(name: "ProviderModule", type: .static, targets: ["ProviderModule"]),
    ],
    targets: [
        .target(name: "CProviderStamp"),
        .target(name: "ProviderModule", dependencies: ["CProviderStamp"]),
        .target(
            name: "ProviderKit",
            dependencies: ["CProviderStamp"],
            swiftSettings: [
                .swiftLanguageMode(.v6),
                .strictMemorySafety(),
                .treatAllWarnings(as: .error),
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
                .enableExperimentalFeature("Lifetimes"),
            ]),
    ]
)
