extension ProviderPackage {
    /// `Package.swift`.
    var manifest: String {
        #"""
        // swift-tools-version: 6.2
        import PackageDescription

        let package = Package(
            name: "\#(moduleName)",
            products: [
                // The library that the host loads. Never link the Swift runtime statically: host and module share it.
                .library(name: "\#(moduleName)", type: .dynamic, targets: ["\#(moduleName)"])
            ],
            dependencies: [
                .package(path: "\#(Self.quoted(providerKit.providerKit))"),
                .package(path: "\#(Self.quoted(providerKit.testKit))"),
            ],
            targets: [
                .target(
                    name: "\#(moduleName)",
                    dependencies: [
                        .product(name: "ProviderKit", package: "ProviderKit"),
                        .product(name: "ProviderModule", package: "ProviderKit"),
                    ],
                    resources: [.copy("\#(identifier).bundle")],
                    swiftSettings: [.swiftLanguageMode(.v6)]),
                .testTarget(
                    name: "\#(moduleName)Tests",
                    dependencies: [
                        "\#(moduleName)",
                        .product(name: "ProviderKit", package: "ProviderKit"),
                        .product(name: "ProviderTestKit", package: "ProviderTestKit"),
                    ],
                    swiftSettings: [.swiftLanguageMode(.v6)]),
            ]
        )

        """#
    }

    /// `Info.plist` of the bundle.
    var infoPropertyList: String {
        #"""
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        <dict>
            <key>CFBundleIdentifier</key>
            <string>\#(identifier)</string>
            <key>CFBundleName</key>
            <string>\#(moduleName)</string>
            <key>CFBundlePackageType</key>
            <string>XPC!</string>
            <key>CFBundleShortVersionString</key>
            <string>0.1</string>
            <key>CFBundleExecutable</key>
            <string>lib\#(moduleName).so</string>
            <key>NSExtension</key>
            <dict>
                <key>NSExtensionPointIdentifier</key>
                <string>com.apple.networkextension.packet-tunnel</string>
                <key>NSExtensionPrincipalClass</key>
                <string>\#(moduleName).\#(moduleName)</string>
            </dict>
            <key>PHContractVersion</key>
            <string>\#(contractVersion)</string>
        </dict>
        </plist>

        """#
    }

    /// `README.md`.
    var readme: String {
        #"""
        # \#(moduleName)

        A packet tunnel provider for ProviderHost. As it stands, it gives the interface 192.0.2.1/24 and sends every packet
        back with source and destination exchanged, so every other address of that network answers `ping`.

        ```sh
        swift build
        swift test
        sudo env PROVIDERHOST_BUNDLE_PATH=.build/debug providerhost run --bundle-id \#(identifier)
        ping 192.0.2.7        # in another terminal
        ```

        * `Sources/\#(moduleName)/\#(moduleName).swift` is the provider: replace `reflect` by your transport.
        * `Sources/\#(moduleName)/\#(identifier).bundle/Info.plist` tells the host about it.
        * `Tests/\#(moduleName)Tests` runs it without an interface, with ProviderTestKit.

        Host and module must be built by the same compiler and from the same ProviderKit; the host compares both and says so.

        """#
    }

    /// Text as it stands between the quotes of a Swift string.
    static func quoted(_ text: String) -> String {
        text.reduce(into: "") { quoted, character in
            if character == "\\" || character == "\"" { quoted.append("\\") }
            quoted.append(character)
        }
    }
}
