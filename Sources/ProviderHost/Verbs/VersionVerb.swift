internal import ProviderKit

/// `version`: what this is, and what a bundle must be built with to be loaded.
enum VersionVerb {
    static let command = Command(
        name: "version", summary: "Print the version, and the stamp that a bundle must carry.", options: [.json]
    ) { arguments, console in
        if arguments.wantsJSON {
            console.print(
                json: Description(
                    schema: Report.schema, version: CommandLineTool.version,
                    contractVersion: ProviderModule.contractVersion, stamp: ProviderModule.stamp))
        } else {
            console.print("\(CommandLineTool.name) \(CommandLineTool.version) (\(ProviderModule.stamp))")
        }
        return .success
    }

    /// The object of `--json`.
    struct Description: Encodable {
        let schema: Int
        let version: String
        let contractVersion: String
        let stamp: String
    }
}
