// swift-tools-version: 6.2
import PackageDescription

// A package of its own, because inside ProviderKit's the linker would put a second copy of the contract into every test:
// SwiftPM links the targets of one package statically.
let package = Package(
    name: "ProviderTestKit",
    products: [.library(name: "ProviderTestKit", targets: ["ProviderTestKit"])],
    dependencies: [.package(path: "../ProviderKit")],
    targets: [
        .target(
            name: "ProviderTestKit",
            dependencies: [.product(name: "ProviderKit", package: "ProviderKit")],
            swiftSettings: [
                .swiftLanguageMode(.v6),
                .strictMemorySafety(),
                .treatAllWarnings(as: .error),
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
                .enableExperimentalFeature("Lifetimes"),
            ])
    ]
)
