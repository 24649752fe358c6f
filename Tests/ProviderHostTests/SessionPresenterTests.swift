import Foundation
import ProviderKit
import Testing

@testable import ProviderHost

@Suite("Lines of run")
struct SessionPresenterTests {
    private let failure = TunnelFailure(errorDomain: "D", errorCode: 7, cause: "It broke.", remedy: "Mend it.")

    @Test("A change of state is one line with the interface")
    func plainStatus() {
        let capture = Capture()
        let presenter = SessionPresenter(console: capture.console, asJSON: false)
        presenter.show(.connecting, interface: "", error: nil)
        presenter.show(.connected, interface: "phtun0", error: nil)
        #expect(capture.output == "connecting\nconnected phtun0\n")
        #expect(capture.errors.isEmpty)
    }

    @Test("The error of a disconnect is one line on the standard error, before the last line of the output")
    func plainError() {
        let capture = Capture()
        let presenter = SessionPresenter(console: capture.console, asJSON: false)
        presenter.show(.disconnected, interface: "phtun0", error: failure)
        #expect(capture.errors == "providerhost: It broke. Mend it.\n")
        #expect(capture.output == "disconnected phtun0\n")
    }

    @Test("With JSON every line is an object on the output, and nothing is on the standard error")
    func json() throws {
        let capture = Capture()
        let presenter = SessionPresenter(console: capture.console, asJSON: true)
        presenter.log(.info, "line one\nline two")
        presenter.show(.connecting, interface: "", error: nil)
        presenter.show(.disconnected, interface: "phtun0", error: failure)
        let objects = try capture.objects()
        #expect(capture.errors.isEmpty)
        #expect(objects.map { $0["schema"] as? Int } == [1, 1, 1])
        #expect(objects.map { $0["event"] as? String } == ["log", "status", "status"])
        #expect(objects[0]["level"] as? String == "info" && objects[0]["message"] as? String == "line one\nline two")
        #expect(objects[1]["interface"] is NSNull && objects[1]["error"] is NSNull)
        #expect(objects[2]["status"] as? String == "disconnected")
        let error = try #require(objects[2]["error"] as? [String: Any])
        #expect(error["domain"] as? String == "D" && error["code"] as? Int == 7)
        #expect(error["cause"] as? String == "It broke." && error["remedy"] as? String == "Mend it.")
    }

    @Test("A message with control characters stays one line")
    func hostileLog() {
        let capture = Capture()
        SessionPresenter(console: capture.console, asJSON: false).log(.warning, "a\nconnected phtun0\u{1B}[2J")
        #expect(capture.errors == "providerhost: warning: a?connected phtun0?[2J\n")
    }
}
