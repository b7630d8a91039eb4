import Foundation
import Testing

@testable import AppAttest

@Suite struct AssertionFieldTests {
    private static let key = Data(repeating: 7, count: 32).base64EncodedString()

    @Test(arguments: [
        "key=:\(key):, challenge=:YWJj:, assertion=:AQID:", "assertion=:AQID:,key=:\(key):,challenge=:YWJj:",
        "  key=:\(key):\t,\tchallenge=:YWJj:;a=1, assertion=:AQID:  ",
        "other=\"x\", n=-1.5, l=(1 2);b, d=@1, s=%\"%c3%bc\", f=?0, bare, key=:\(key):, challenge=:YWJj:, assertion=:AQID:",
        "key=1, key=:\(key):, challenge=:YWJj:, assertion=:AQID:",
    ])
    func validFieldIsParsed(_ value: String) throws {
        let field = try AssertionField(value)
        #expect(field.keyID == [UInt8](repeating: 7, count: 32))
        #expect(field.challenge == Array("abc".utf8))
        #expect(field.assertion == [1, 2, 3])
    }

    @Test(arguments: [
        "", "key", "key=:\(key):", "key=:\(key):, challenge=:YWJj:",
        "key=:AQID:, challenge=:YWJj:, assertion=:AQID:",
        "key=:\(key):, challenge=:YWJj:, assertion=:AQID:,", "key=:\(key):, challenge=:YWJj:, assertion=AQID",
        "key=:\(key):, challenge=:YWJj:, assertion=:AQID", "key=:\(key):, challenge=:YWJj:, assertion=:AQI:",
        "key=:\(key):, challenge=:YWJj:, assertion=:AQIDA===:",
        "key=:\(key):, challenge=:YWJj:, assertion=:AQID:, key=1",
        "key=:\(key):; challenge=:YWJj:; assertion=:AQID:",
        "Key=:\(key):, challenge=:YWJj:, assertion=:AQID:",
        "key=:\(key):, challenge=:YWJj:, assertion=:AQID:, x=(1", "x=\"\\",
        String(repeating: "a,", count: 5_000),
    ])
    func malformedFieldIsRejected(_ value: String) {
        #expect(throws: AttestationRefusal.format(.field)) { try AssertionField(value) }
    }
}
