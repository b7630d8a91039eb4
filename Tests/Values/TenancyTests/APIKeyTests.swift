import Testing

@testable import Tenancy

@Suite struct APIKeyTests {
    /// A key that one version made is a key to every later one.
    ///
    /// Source: Python's integers and `zlib.crc32`.
    @Test func knownBitsGiveKnownKey() throws {
        let key = APIKey(.secret, words: (1...8).map { $0 * 0x1111_1111 })
        #expect(key.text == "dsk_42un7HAfGJCIXChq6kq59S2MK5kpmYyFdNLHpYUrvxY1KlEY8")
        #expect(try APIKey(key.text).kind == .secret)
    }

    @Test(arguments: KeyKind.allCases, [(false, 53), (true, 58)])
    func generatedKeysParse(kind: KeyKind, form: (isTest: Bool, length: Int)) throws {
        let prefix = kind.prefix(isTest: form.isTest)
        for _ in 0..<200 {
            let key = APIKey.generate(kind, isTest: form.isTest)
            let parsed = try APIKey(key.text)
            #expect(parsed.kind == kind && parsed.isTest == form.isTest)
            #expect(parsed.text == key.text)
            #expect(key.text.utf8.count == form.length && APIKey.lengths.contains(form.length))
            #expect(key.text.hasPrefix(prefix) && key.hint.count == prefix.count + 4)
        }
    }

    @Test(arguments: KeyKind.allCases) func prefixesOfTestKeysDiffer(kind: KeyKind) {
        #expect(kind.prefix(isTest: true) == kind.prefix(isTest: false) + "test_")
        #expect(Set(KeyKind.allCases.map { $0.prefix(isTest: true) }) == ["dpk_test_", "dsk_test_"])
    }

    /// A checksum is for the whole text: a key of a test tenant is no other key with more or less text.
    @Test func keyWithAddedOrRemovedMarkIsRejected() throws {
        let live = APIKey.generate(.secret).text
        let test = APIKey.generate(.secret, isTest: true).text
        for text in ["dsk_test_" + live.dropFirst(4), "dsk_" + test.dropFirst(9)] {
            #expect(throws: TenancyError.invalidKey) { try APIKey(text) }
        }
    }

    @Test func generatedKeysDiffer() {
        let keys = Set((0..<1_000).map { _ in APIKey.generate(.secret).text })
        #expect(keys.count == 1_000)
    }

    @Test func keyWithMistypedCharacterIsRejected() throws {
        let key = Array(APIKey.generate(.publishable).text.utf8)
        for position in key.indices {
            for digit in Base62.alphabet where digit != key[position] {
                var mistyped = key
                mistyped[position] = digit
                #expect(throws: TenancyError.invalidKey) {
                    try APIKey(String(decoding: mistyped, as: UTF8.self))
                }
            }
        }
    }

    @Test func shortenedLengthenedOrForeignTextIsRejected() {
        let key = APIKey.generate(.secret).text
        for text in [
            "", "dsk_", String(key.dropLast()), key + "0", " " + key, key.uppercased(), "sk_live_4eC39Hq",
        ] {
            #expect(throws: TenancyError.invalidKey) { try APIKey(text) }
        }
    }

    @Test func descriptionAndDumpHideSecret() {
        let key = APIKey.generate(.secret)
        var dumped = ""
        dump(key, to: &dumped)
        for shown in ["\(key)", String(reflecting: key), dumped] {
            #expect(!shown.contains(key.text.dropFirst(9)))
            #expect(shown.contains(key.hint))
        }
    }

    @Test func base62EncodesKnownNumbers() {
        #expect(String(decoding: Base62.digits(of: [61], count: 2), as: UTF8.self) == "0z")
        #expect(String(decoding: Base62.digits(of: [62], count: 2), as: UTF8.self) == "10")
        #expect(String(decoding: Base62.digits(of: [1, 0], count: 6), as: UTF8.self) == "4gfFC4")
        let largest = Base62.digits(of: Array(repeating: .max, count: 8), count: 43)
        #expect(largest.first != Base62.alphabet[0])
    }

    @Test func publishableKeyHasOnlyClipScopes() {
        #expect(KeyKind.publishable.scopes.list == [.lookup, .confirm, .register])
        #expect(KeyKind.secret.scopes.list == Scope.allCases)
        #expect(KeyKind.publishable.usualScopes == KeyKind.publishable.scopes)
        #expect(KeyKind.secret.usualScopes.list == [.lookup, .confirm, .compose, .register, .notify])
    }

    /// An instance has one token and one permission, wherever it is launched.
    @Test func restrictedKeyLacksRegisterScope() {
        #expect(KeyKind.secret.scopesAtLocations.list == [.lookup, .confirm, .compose, .notify, .read])
        #expect(
            KeyKind.secret.usualScopes(isRestricted: true).list == [.lookup, .confirm, .compose, .notify])
        #expect(KeyKind.secret.usualScopes(isRestricted: false) == KeyKind.secret.usualScopes)
        #expect(KeyKind.publishable.scopesAtLocations.isEmpty)
    }
}
