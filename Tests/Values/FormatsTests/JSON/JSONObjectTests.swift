import Formats
import PropertyTesting
import Testing

@Suite struct JSONObjectTests {
    @Test func keysAreIteratedInByteOrder() {
        let object: JSONObject = [
            "b": 1, "a": 2, "é": 3, "Z": 4, "": 5, "aa": 6, "\u{1F600}": 7, "\u{FFFD}": 8,
        ]
        #expect(object.map(\.key) == ["", "Z", "a", "aa", "b", "é", "\u{FFFD}", "\u{1F600}"])
        #expect(object.map(\.value) == [5, 4, 2, 6, 1, 3, 8, 7])
    }

    @Test func settingNilRemovesMemberButSettingNullKeepsIt() {
        var object: JSONObject = ["a": 1, "b": 2]
        object["a"] = .null
        object["b"] = nil
        object["c"] = nil
        #expect(object == ["a": .null])
        object["a"] = "new"
        #expect(object["a"] == "new")
        #expect(object.count == 1)
    }

    @Test func insertionOrderDoesNotMatter() {
        let object: JSONObject = ["a": 1, "b": 2]
        let other: JSONObject = ["b": 2, "a": 1]
        #expect(object == other)
        #expect(object.hashValue == other.hashValue)
        #expect(object != ["a": 1, "b": 3])
        #expect(object != ["a": 1])
    }

    @Test func laterDuplicateInLiteralWins() {
        let object: JSONObject = ["a": 1, "a": 2]
        #expect(object == ["a": 2])
    }

    @Test func keysAreComparedByBytes() {
        var object: JSONObject = ["\u{E9}": 1]
        #expect(object["e\u{301}"] == nil)
        object["e\u{301}"] = 2
        #expect(object.count == 2)
    }

    /// A thousand keys set in random order behave as a dictionary does.
    @Test func objectAgreesWithDictionary() {
        var generator = SplitMix64(seed: 99)
        var object = JSONObject()
        var dictionary: [String: JSONValue] = [:]
        for _ in 0..<2_000 {
            let key = String(generator.below(500), radix: 36)
            let value = generator.oneIn(4) ? nil : JSONValue(generator.below(10))
            object[key] = value
            dictionary[key] = value
        }
        #expect(object.count == dictionary.count)
        #expect(object.map(\.key) == dictionary.keys.sorted())
        #expect(object.allSatisfy { dictionary[$0.key] == $0.value })
    }

    /// Objects of few members and of many are searched in different ways; both agree with a dictionary after
    /// every change.
    @Test(arguments: [4, 16, 17, 40])
    func keysAreFoundInSmallAndLargeObjects(keys: Int) throws {
        var generator = SplitMix64(seed: UInt64(keys))
        var object = JSONObject()
        var dictionary: [String: JSONValue] = [:]
        for _ in 0..<200 {
            let key = "key \(generator.below(keys))"
            let value = generator.oneIn(4) ? nil : JSONValue(generator.below(10))
            object[key] = value
            dictionary[key] = value
            try #require(object.map(\.key) == dictionary.keys.sorted())
            try #require((0...keys).allSatisfy { object["key \($0)"] == dictionary["key \($0)"] })
        }
    }
}
