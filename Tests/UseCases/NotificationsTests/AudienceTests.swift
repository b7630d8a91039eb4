import Formats
import Foundation
import Notifications
import Testing

@Suite struct AudienceTests {
    private static let instance = UUID()

    private static func audience(ofActivity activity: String) throws -> Audience {
        let object: JSONObject = [
            "activity": ["instance": .string(instance.uuidString), "activity": .string(activity)]
        ]
        var reader = JSONObjectReader(object)
        return try Audience(&reader)
    }

    /// The longest names that can be registered can be used in audiences, with any characters.
    @Test(arguments: ["a", "é", "👩‍🍳"])
    func activityNameLimitMatchesRegistration(character: String) throws {
        let longest = String(repeating: character, count: 128 / character.unicodeScalars.count)
        #expect(TokenKind.isName(longest))
        #expect(
            try Self.audience(ofActivity: longest) == .activity(InstanceID(Self.instance), longest))
        for name in ["", longest + character, "a\0"] {
            #expect(!TokenKind.isName(name))
            #expect(throws: JSONFieldError.self) { try Self.audience(ofActivity: name) }
        }
    }
}
