import Testing
import WireGuard

@Suite("A wrong wg-quick file gives its first error, by line")
struct ConfigurationErrorTests {
    /// The error of a text, nil if it is a configuration.
    private func parsingError(_ text: String) -> ConfigurationError? {
        do {
            _ = try Configuration(wgQuick: text)
            return nil
        } catch {
            return error
        }
    }

    @Test("with what stands there and what was expected", arguments: WrongFile.all)
    func firstError(file: WrongFile) throws {
        let error = try #require(parsingError(file.text))
        #expect(error.line == file.line)
        #expect(error.message.hasPrefix(file.message), "\(error.message)")
        #expect(error.expectation.contains(file.expectation), "\(error.expectation)")
    }

    @Test("as file:line: message; expected …")
    func rendering() throws {
        let error = try #require(parsingError(interfaceFile("MTU = 12")))
        let tail = "MTU cannot be '12'; expected a number of bytes from 576 to 65535"
        #expect(error.description(file: "/etc/wireguard/wg0.conf") == "/etc/wireguard/wg0.conf:3: \(tail)")
        #expect("\(error)" == "line 3: \(tail)")
    }

    @Test("in the line of the file whatever ends the lines")
    func lineNumbers() throws {
        let text = peerFile("# comment", "", "Endpoint = nowhere")
        #expect(try #require(parsingError(text)).line == 7)
        #expect(try #require(parsingError(text.replacing("\n", with: "\r\n"))).line == 7)
    }

    @Test(
        "and never shows a key, wherever it stands",
        arguments: [
            "PrivateKey \(examplePrivateKey)", "PrivateKye = \(examplePrivateKey)", "\(examplePrivateKey)",
            "PrivateKey: \(examplePrivateKey)", "PrivateKey\(examplePrivateKey)", "Address = \(examplePrivateKey)",
            "DNS = \(examplePrivateKey)", "[\(examplePrivateKey)]", "PrivateKey = \(examplePrivateKey)x",
            "PrivateKey = \"\(examplePrivateKey)\"", "MTU = '\(examplePrivateKey)'",
            "PrivateKey yAnz5TF!+lXXJte14tji3zlMN",
        ])
    func noKeyInError(badLine: String) throws {
        let error = try #require(parsingError(interfaceFile(badLine)))
        #expect(error.line == 3)
        for text in ["\(error)", error.description(file: "f"), String(reflecting: error)] {
            #expect(!text.contains("yAnz5"))
            #expect(!text.contains("lXXJte14"))
        }
    }

    @Test("shortened and printable")
    func excerpts() throws {
        let long = try #require(parsingError(interfaceFile("MTU = " + String(repeating: "1-", count: 5000))))
        #expect(long.message.utf8.count < 100)
        #expect(long.message.hasSuffix("1-...'"))
        let colored = try #require(parsingError(interfaceFile("\u{1b}[31mMTU = 5")))
        #expect(colored.message == "there is no key '?[31mMTU' in [Interface]")
    }

    @Test("at the limits of size")
    func limits() throws {
        let line = "PostUp = " + String(repeating: "x", count: Configuration.maximumLineByteCount - 9)
        #expect(parsingError(interfaceFile(line)) == nil)
        #expect(parsingError(interfaceFile(line + "x")) == ConfigurationError(line: 3, reason: .lineTooLong))
        let comments = String(repeating: String(repeating: "#", count: 1023) + "\n", count: 16 << 10)
        #expect(try #require(parsingError(comments)).reason == .missingInterface)
        #expect(
            parsingError(comments + "#")
                == ConfigurationError(line: 1, reason: .fileTooLarge(byteCount: Configuration.maximumByteCount + 1)))
    }

    @Test("for bytes that are not UTF-8 outside of comments")
    func invalidUTF8() throws {
        let head = Array(interfaceFile("").utf8)
        #expect(throws: Never.self) { try Configuration(wgQuick: (head + [35, 0xff, 0xfe]).span) }
        #expect(throws: ConfigurationError(line: 3, reason: .notText)) {
            try Configuration(wgQuick: (head + Array("PostUp = ".utf8) + [0xff]).span)
        }
    }

    @Test("and random changes of a good file never crash; what parses, parses again")
    func mutations() throws {
        var generator = SplitMix(seed: 20_240_917)
        let good = Array(ConfigurationTests.full.utf8)
        let alphabet = Array("#=[]:,/%+-. \t\r\n0x9aZ\u{0}\u{7f}é".utf8)
        var parsed = 0
        for _ in 0..<3_000 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let at = Int.random(in: 0..<bytes.count, using: &generator)
                let end = min(bytes.count, at + Int.random(in: 0...20, using: &generator))
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[at] = alphabet.randomElement(using: &generator) ?? 0
                case 1: bytes.removeSubrange(at..<end)
                default: bytes.insert(contentsOf: bytes[at..<end], at: at)
                }
            }
            guard let configuration = try? Configuration(wgQuick: bytes.span) else { continue }
            parsed += 1
            let text = configuration.wgQuickText
            #expect(try Configuration(wgQuick: text).wgQuickText == text)
        }
        #expect(parsed > 100)
    }
}
