import Foundation
import ProviderKit
import Testing

@testable import HostRuntime

/// Random operations of four clients and of what their tunnels' providers do, against a model of the manager.
@Suite("Manager against a model", .serialized)
struct ManagerModelTests {
    /// Together 10,000 operations, and 100,000 where figures are taken.
    private static let operations =
        ProcessInfo.processInfo.environment["PROVIDERHOST_MEASURE"] == nil ? 2_500 : 25_000

    @Test("Every answer, status and completion is the model's", arguments: [1, 2, 3, 4] as [UInt64])
    func walk(seed: UInt64) async throws {
        try await onThread {
            let world = try ModelWorld(seed: seed)
            for step in 0..<Self.operations {
                do {
                    try world.step()
                } catch {
                    throw Unexpected("seed \(seed), step \(step): \(error)")
                }
            }
            try world.finish()
            // The walk must have been everywhere, or it proves nothing.
            #expect(world.phases == Set(ModelTunnel.Phase.allCases))
            #expect(world.edges == ModelWorld.legalEdges)
            #expect(
                world.refusals == [
                    .notPermitted, .invalid, .stale, .disabled, .active, .notRunning, .itemNotFound, .locked,
                ])
        }
    }
}
