import Foundation
import Testing

@Suite("Stored fuzz inputs are replayed")
struct ReplayTests {
    private static let corpus = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Corpus")

    @Test("without a crash, good ones accepted and bad ones refused", arguments: FuzzTarget.allCases)
    func replay(target: FuzzTarget) throws {
        let files = try FileManager.default.contentsOfDirectory(
            at: Self.corpus.appending(path: target.rawValue), includingPropertiesForKeys: nil)
        var accepted = 0
        for file in files {
            let isAccepted = target.run([UInt8](try Data(contentsOf: file)))
            accepted += isAccepted ? 1 : 0
            // Names say what a seed shows: good-…, bad-…; what libFuzzer found keeps the name that it gave.
            if file.lastPathComponent.hasPrefix("good-") { #expect(isAccepted, "\(file.lastPathComponent)") }
            if file.lastPathComponent.hasPrefix("bad-") { #expect(!isAccepted, "\(file.lastPathComponent)") }
        }
        #expect(accepted > 0 && accepted < files.count, "a corpus needs inputs of both kinds")
    }

    @Test("and every folder of the corpus belongs to a target")
    func folders() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.corpus.path)
        #expect(Set(folders) == Set(FuzzTarget.allCases.map(\.rawValue)))
    }
}
