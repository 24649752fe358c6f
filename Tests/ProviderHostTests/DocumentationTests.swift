import Foundation
import Testing

@testable import ProviderHost

@Suite("Completions and the manual page")
struct DocumentationTests {
    @Test("name every verb and option of the table", arguments: Completions.Shell.allCases)
    func complete(shell: Completions.Shell) {
        let script = Completions.script(for: shell)
        for command in CommandTable.all where !command.isHidden {
            for word in command.name.split(separator: " ") { #expect(script.contains(word), "\(command.name)") }
            for option in command.options { #expect(script.contains(option.name), "\(command.name) --\(option.name)") }
        }
    }

    @Test("are accepted by the shell, and complete")
    func bash() throws {
        let script =
            Completions.script(for: .bash) + """

                COMP_WORDS=(providerhost profile im); COMP_CWORD=2; _providerhost; echo "${COMPREPLY[@]}"
                COMP_WORDS=(providerhost sta); COMP_CWORD=1; _providerhost; echo "${COMPREPLY[@]}"
                COMP_WORDS=(providerhost run --bun); COMP_CWORD=2; _providerhost; echo "${COMPREPLY[@]}"
                COMP_WORDS=(providerhost gateway pe); COMP_CWORD=2; _providerhost; echo "${COMPREPLY[@]}"
                COMP_WORDS=(providerhost gateway peer ad); COMP_CWORD=3; _providerhost; echo "${COMPREPLY[@]}"
                COMP_WORDS=(providerhost profile import x.conf --na); COMP_CWORD=4; _providerhost; echo "${COMPREPLY[@]}"
                """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", script]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(output == "import\nstart status\n--bundle-id\npeer\nadd\n--name\n")
    }

    @Test("The manual page has every verb, and no line that troff would take for a request of ours")
    func manual() {
        let text = ManualPage.text()
        for command in CommandTable.all where !command.isHidden {
            #expect(text.contains("providerhost \(command.name)".replacingOccurrences(of: "-", with: "\\-")))
        }
        let requests = Set(text.split(separator: "\n").filter { $0.hasPrefix(".") }.map { $0.split(separator: " ")[0] })
        #expect(requests.isSubset(of: [".TH", ".SH", ".SS", ".TP", ".PP", ".B", ".I"]))
    }
}
