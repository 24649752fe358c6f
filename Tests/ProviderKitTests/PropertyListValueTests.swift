import Foundation
import ProviderKit
import Testing

@Suite("Property list values in JSON")
struct PropertyListValueTests {
    private static let values: [PropertyListValue] = [
        "text", 0, -1, .integer(.max), .integer(.min), .real(1), .real(-0.5), true, false, .data([]),
        .data([0, 255, 16]),
        .array([]), .array([1, "1", .real(1), true, .array([.data([1])])]), .dictionary([:]),
        .dictionary(["a": 1, "": "", "$real": 1, "$data": "x", "$": true, "$$a": .real(2)]), "", "{}", "\u{0}é",
    ]

    @Test("come back as they were, with their types", arguments: values)
    func roundTrip(value: PropertyListValue) throws {
        let data = try JSONEncoder().encode([value])
        #expect(try JSONDecoder().decode([PropertyListValue].self, from: data) == [value])
    }

    @Test("look as a reader expects")
    func text() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let value = PropertyListValue.dictionary(["a": .array([1, "x", true]), "b": .real(0.5), "c": .data([1, 254])])
        #expect(
            String(decoding: try encoder.encode(value), as: UTF8.self)
                == ##"{"a":[1,"x",true],"b":{"$real":0.5},"c":{"$data":"01FE"}}"##)
    }

    @Test(
        "are refused where they are none",
        arguments: ["null", "[null]", #"{"$data":"0"}"#, #"{"$data":"xy"}"#, #"{"$real":"1"}"#])
    func refused(text: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(PropertyListValue.self, from: Data(text.utf8))
        }
    }
}
