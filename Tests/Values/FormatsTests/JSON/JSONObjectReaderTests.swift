import Formats
import Testing

@Suite struct JSONObjectReaderTests {
    private static let object: JSONObject = [
        "string": "a", "bool": true, "integer": 7, "double": 1.5, "array": [1], "object": ["inner": 1],
        "null": .null,
    ]

    @Test func readerReadsEachType() throws {
        var reader = JSONObjectReader(Self.object)
        #expect(try reader.requiredString("string") == "a")
        #expect(try reader.requiredBool("bool") == true)
        #expect(try reader.requiredInteger("integer") == 7)
        #expect(try reader.requiredDouble("double") == 1.5)
        #expect(try reader.requiredArray("array") == [1])
        var inner = try reader.requiredObject("object")
        #expect(inner.path == "object")
        #expect(try inner.requiredDouble("inner") == 1)
        #expect(try reader.requiredValue("null") == .null)
        try inner.finish()
        try reader.finish()
    }

    @Test func optionalFieldsMayBeAbsent() throws {
        var reader = JSONObjectReader(JSONObject())
        #expect(try reader.optionalString("a") == nil)
        #expect(try reader.optionalBool("a") == nil)
        #expect(try reader.optionalInteger("a") == nil)
        #expect(try reader.optionalDouble("a") == nil)
        #expect(try reader.optionalArray("a") == nil)
        #expect(try reader.optionalMembers("a") == nil)
        #expect(try reader.optionalObject("a") == nil)
        #expect(reader.optionalValue("a") == nil)
        try reader.finish()
    }

    @Test func missingRequiredFieldIsRejected() {
        var reader = JSONObjectReader(JSONObject(), path: "aps")
        let error = JSONFieldError.missing(path: "aps.a")
        #expect(throws: error) { try reader.requiredString("a") }
        #expect(throws: error) { try reader.requiredBool("a") }
        #expect(throws: error) { try reader.requiredInteger("a") }
        #expect(throws: error) { try reader.requiredDouble("a") }
        #expect(throws: error) { try reader.requiredArray("a") }
        #expect(throws: error) { try reader.requiredObject("a") }
        #expect(throws: error) { try reader.requiredValue("a") }
    }

    @Test func wrongTypeErrorNamesPathAndExpectedType() {
        let object = Self.object
        func refuses<Value>(
            _ keys: [String], _ expected: String,
            _ read: (inout JSONObjectReader, String) throws(JSONFieldError) -> Value?
        ) {
            for key in keys {
                var reader = JSONObjectReader(object, path: "a")
                #expect(throws: JSONFieldError.wrongType(path: "a.\(key)", expected: expected)) {
                    try read(&reader, key)
                }
            }
        }
        refuses(["bool", "integer", "array", "object", "null"], "a string") {
            reader, key throws(JSONFieldError) in
            try reader.optionalString(key)
        }
        refuses(["string", "integer", "null"], "true or false") { reader, key throws(JSONFieldError) in
            try reader.optionalBool(key)
        }
        refuses(["string", "double", "bool", "null"], "an integer") { reader, key throws(JSONFieldError) in
            try reader.optionalInteger(key)
        }
        refuses(["string", "bool", "null"], "a number") { reader, key throws(JSONFieldError) in
            try reader.optionalDouble(key)
        }
        refuses(["string", "object", "null"], "an array") { reader, key throws(JSONFieldError) in
            try reader.optionalArray(key)
        }
        refuses(["string", "array", "null"], "an object") { reader, key throws(JSONFieldError) in
            try reader.optionalObject(key)
        }
        refuses(["string", "array", "null"], "an object") { reader, key throws(JSONFieldError) in
            try reader.optionalMembers(key)
        }
    }

    @Test func outermostValueMustBeObject() {
        let error = #expect(throws: JSONFieldError.self) { try JSONObjectReader(JSONValue.array([1, 2])) }
        #expect(error == .wrongType(path: "", expected: "an object"))
        #expect(error?.description == "The JSON text must be an object")
        #expect(throws: Never.self) { try JSONObjectReader(JSONValue.object([:])).finish() }
    }

    @Test func unreadFieldIsRejectedAsUnknown() throws {
        let object: JSONObject = ["aps": ["alert": ["b": 1, "a": 1]]]
        var reader = JSONObjectReader(object)
        var alert = try reader.requiredObject("aps")
        let inner = try alert.requiredObject("alert")
        let error = #expect(throws: JSONFieldError.self) { try inner.finish() }
        #expect(error == .unknown(path: "aps.alert.a"))
        #expect(error?.code == "unknown_field")
        #expect(error?.path == "aps.alert.a")
        #expect(error?.description == "The field aps.alert.a is unknown")
    }

    /// A field is read once, also in an object of more fields than a machine word has bits.
    @Test(arguments: [1, 2, 63, 64, 65, 130])
    func eachFieldIsReadOnce(count: Int) throws {
        var object = JSONObject()
        for number in 0..<count { object["\(number)"] = JSONValue(number) }
        for left in [0, count / 2, count - 1] {
            var reader = JSONObjectReader(object)
            for (key, value) in object where key != object[left].key {
                #expect(reader.optionalValue(key) == value)
                #expect(reader.optionalValue(key) == nil)
            }
            #expect(throws: JSONFieldError.unknown(path: object[left].key)) { try reader.finish() }
            #expect(reader.optionalValue(object[left].key) == object[left].value)
            try reader.finish()
        }
    }

    @Test func nestedReaderHasPathFromKey() throws {
        let alert = JSONObjectReader(
            ["title": 1], key: "alert", of: JSONObjectReader(JSONObject(), path: "aps"))
        var text = JSONObjectReader(["loc-key": 1], key: "a b", of: alert)
        #expect(alert.path == "aps.alert")
        #expect(text.path == #"aps.alert["a b"]"#)
        #expect(throws: JSONFieldError.wrongType(path: #"aps.alert["a b"].loc-key"#, expected: "a string")) {
            try text.requiredString("loc-key")
        }
    }

    @Test func errorsHaveCodesAndDescriptions() {
        #expect(JSONFieldError.missing(path: "url").code == "missing_field")
        #expect(JSONFieldError.missing(path: "url").description == "The field url is missing")
        #expect(JSONFieldError.wrongType(path: "url", expected: "a string").code == "invalid_field")
        #expect(
            JSONFieldError.wrongType(path: "url", expected: "a string").description
                == "The field url must be a string")
        #expect(JSONFieldError.invalid(path: "a", reason: "must be positive").code == "invalid_field")
        #expect(
            JSONFieldError.invalid(path: "a", reason: "must be positive").description
                == "The field a must be positive")
    }

    /// A hostile key cannot add lines to a log or fill it.
    @Test func pathsAreEscapedAndShortened() {
        #expect(JSONPath.member("a", of: "") == "a")
        #expect(JSONPath.member("a-b_C9", of: "x") == "x.a-b_C9")
        #expect(JSONPath.element(3, of: "rows") == "rows[3]")
        #expect(JSONPath.member("name", of: JSONPath.element(3, of: "rows")) == "rows[3].name")
        #expect(JSONPath.member("a.b", of: "x") == #"x["a.b"]"#)
        #expect(JSONPath.member("", of: "x") == #"x[""]"#)
        #expect(JSONPath.member("a\nb\"", of: "x") == #"x["a\nb\""]"#)
        let long = String(repeating: "a", count: 1_000)
        #expect(JSONPath.member(long, of: "x") == #"x["\#(String(repeating: "a", count: 64))…"]"#)
        #expect(JSONError.duplicateKey(long).description.utf8.count < 120)
    }

    @Test func parseErrorsHaveDistinctCodes() {
        let errors: [JSONError] = [
            .invalidUTF8(offset: 0), .byteOrderMark, .unexpectedEnd, .unexpectedByte(offset: 0),
            .trailingBytes(offset: 0), .controlCharacter(offset: 0), .invalidEscape(offset: 0),
            .loneSurrogate(offset: 0), .numberOutOfRange(offset: 0), .duplicateKey("a"),
            .tooDeep(limit: 64, offset: 0),
        ]
        #expect(Set(errors.map(\.code)).count == errors.count)
        #expect(Set(errors.map(\.description)).count == errors.count)
        #expect(errors.allSatisfy { !$0.description.hasSuffix(".") })
    }
}
