import Formats
import Testing

@Suite struct DecimalTests {
    @Test(arguments: [
        ("0", 0), ("-12.5", -12.5), ("+12.5", 12.5), ("1e3", 1_000), ("1E-2", 0.01), (".5", 0.5), ("5.", 5),
        ("1e999", .infinity),
    ])
    func decimalNotationIsParsed(text: String, number: Double) {
        #expect(Double(decimal: text) == number)
        #expect(Double(decimal: "(\(text))".dropFirst().dropLast()) == number)
    }

    /// `Double(_:)` reads the first six.
    @Test(arguments: [
        "0x10", "0x1p3", "nan", "inf", "-infinity", "nan(0x1)", "", " 1", "1 ", "1,5", "e", "-", "1e", "--1",
        "१",
    ])
    func otherNotationIsRejected(text: String) {
        #expect(Double(decimal: text) == nil)
    }
}
