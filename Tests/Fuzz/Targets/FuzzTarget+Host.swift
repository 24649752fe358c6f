import HostRuntime

extension FuzzTarget {
    /// A manifest is read from a bundle before anything of the bundle is trusted.
    static func runBundleManifest(_ bytes: [UInt8]) -> Bool {
        guard let manifest = try? BundleManifest(parsing: bytes) else { return false }
        precondition(BundleManifest.isValidIdentifier(manifest.identifier), "an identifier was not checked")
        precondition(!manifest.executableName.contains("/"), "a library may lie outside of its bundle")
        return true
    }

    /// A frame of the socket pair between manager and worker, in either direction.
    static func runWorkerChannel(_ bytes: [UInt8]) -> Bool {
        decodeChannelFrame(fuzzing: bytes)
    }
}
