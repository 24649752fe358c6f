internal import HostRuntime
internal import ProviderKit

/// `bundles`: lists what is installed and what is refused.
enum BundlesVerb {
    static let command = Command(
        name: "bundles", summary: "List the installed provider bundles, and those that are refused with the reason.",
        options: [.json],
        discussion: """
            Bundles are searched in the folder of the executable, in the folders of
            \(BundleSearchPath.environmentKey) (separated by colons), and in the install folder
            lib/providerhost/bundles.
            """
    ) { arguments, console in
        let index = BundleIndex()
        if arguments.wantsJSON {
            console.print(json: Listing(index))
            return .success
        }
        for bundle in index.bundles {
            let version = bundle.manifest.version.map { " \($0.printable)" } ?? ""
            console.print("\(bundle.manifest.identifier)\(version) \(bundle.path.printable)")
        }
        for refusal in index.refused { console.print("refused \(refusal.path.printable): \(refusal.error)") }
        if index.bundles.isEmpty, index.refused.isEmpty {
            console.print("No bundle was found in \(index.folders.joined(separator: ", ")).")
        }
        return .success
    }

    /// The object of `--json`.
    struct Listing: Encodable {
        struct Bundle: Encodable {
            let identifier: String
            let name: String
            let version: String?
            let principalClass: String
            let path: String
            let executable: String
        }

        struct Refusal: Encodable {
            let path: String
            let identifier: String?
            let error: ErrorReport
        }

        let schema: Int
        let bundles: [Bundle]
        let refused: [Refusal]

        init(_ index: BundleIndex) {
            schema = Report.schema
            bundles = index.bundles.map { bundle in
                Bundle(
                    identifier: bundle.manifest.identifier, name: bundle.manifest.name,
                    version: bundle.manifest.version, principalClass: bundle.manifest.principalClass,
                    path: bundle.path, executable: bundle.executablePath)
            }
            refused = index.refused.map {
                Refusal(path: $0.path, identifier: $0.identifier, error: ErrorReport($0.error))
            }
        }
    }
}
