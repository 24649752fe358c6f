import Testing

@testable import NetworkSettings

@Suite("Who looks names up in a namespace")
struct NameServiceSwitchTests {
    @Test(
        "systemd-resolved is taken out with its conditions",
        arguments: [
            ("files mymachines resolve [!UNAVAIL=return] dns myhostname", "files mymachines dns myhostname"),
            ("files resolve [ !UNAVAIL=return NOTFOUND=return ] myhostname", "files dns myhostname"),
            ("resolve", "dns"), ("files resolve [unclosed dns", "files dns"),
        ])
    func changed(_ before: String, _ after: String) {
        let text = "passwd: files resolve\nhosts:  \(before) # comment\n"
        #expect(NameServiceSwitch.withoutResolved(text) == "passwd: files resolve\nhosts: \(after)\n")
    }

    @Test("a file without it stays as it is", arguments: ["hosts: files dns\n", "", "hosts: files # resolve\n"])
    func unchanged(_ text: String) { #expect(NameServiceSwitch.withoutResolved(text) == nil) }
}
