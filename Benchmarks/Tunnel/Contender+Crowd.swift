import Foundation
import Glibc

extension Contender {
    /// The peers beside the one that carries the loads.
    var crowd: Crowd? {
        if case .crowded(_, let crowd) = self { crowd } else { nil }
    }

    /// The name of a machine's tunnel interface.
    func interface(of machine: Machine, in lab: Lab) -> String {
        "phb\(getpid())\(machine.inner == lab.left.inner ? "l" : "r")"
    }

    /// Brings the crowd's sessions up, and lets the left end say that it has them all beside the one of the right end.
    func gather(_ crowd: Crowd, in lab: Lab) throws {
        let file = lab.folder.appendingPathComponent("\(interface(of: lab.right, in: lab)).conf").path
        try crowd.connect(from: lab.right, gateway: file)
        try wait(seconds: 5) {
            let times = try lab.left.run("wg", "show", interface(of: lab.left, in: lab), "latest-handshakes")
            return times.split(separator: "\n").count { !$0.hasSuffix("\t0") } == crowd.count + 1
        } failure: {
            BenchmarkError(
                "the left end of \(label) has not all sessions",
                advice: "This is a fault of the suite, or the machine is too slow for it.")
        }
    }
}
