import APNsPayload
import Foundation
import Notifications
import Persistence
import Tenancy
import Testing

@Suite struct SealingKeysTests {
    static let first = String(repeating: "a", count: 32)
    static let second = String(repeating: "b", count: 32)

    private static func keys(_ secrets: String...) throws -> SealingKeys {
        try #require(SealingKeys(secrets: secrets))
    }

    private let tenant = TenantID(UUID())
    private let bytes = Array("a token".utf8)

    @Test func missingOrShortSecretsAreRejected() {
        #expect(SealingKeys(secrets: []) == nil)
        #expect(SealingKeys(secrets: [String(repeating: "a", count: 31)]) == nil)
        #expect(SealingKeys(secrets: [Self.first, ""]) == nil)
        #expect(SealingKeys(secrets: [Self.first]) != nil)
    }

    @Test func sealedBytesOpenOnlyInTheirContext() throws {
        let keys = try Self.keys(Self.first)
        let sealed = try keys.of(tenant).seal(bytes, at: ["a", "b"])
        #expect(keys.of(tenant).open(sealed, at: ["a", "b"]) == bytes)
        #expect(keys.of(TenantID(UUID())).open(sealed, at: ["a", "b"]) == nil)
        for place in [["ab"], ["a", "b", ""], ["b", "a"], ["a", "c"], ["a1:b"], []] {
            #expect(keys.of(tenant).open(sealed, at: place) == nil, "\(place)")
        }
    }

    /// A change of any bit, and a removal of any part, is detected.
    @Test func alteredSealedBytesDoNotOpen() throws {
        let keys = try Self.keys(Self.first)
        let sealed = try keys.of(tenant).seal(bytes, at: ["a"])
        for index in sealed.indices {
            for bit in 0..<8 {
                var changed = sealed
                changed[index] ^= 1 << UInt8(bit)
                #expect(keys.of(tenant).open(changed, at: ["a"]) == nil, "byte \(index), bit \(bit)")
            }
            #expect(keys.of(tenant).open(Array(sealed.prefix(index)), at: ["a"]) == nil)
        }
    }

    @Test func sealingIsNeverRepeated() throws {
        let keys = try Self.keys(Self.first)
        let sealed = try (0..<100).map { _ in try keys.of(tenant).seal(bytes, at: ["a"]) }
        #expect(Set(sealed).count == 100)
        #expect(sealed.allSatisfy { !$0.contains(subsequence: bytes) })
    }

    @Test func secretIsReplacedInThreeSteps() throws {
        let (old, both, new) = (
            try Self.keys(Self.first), try Self.keys(Self.second, Self.first), try Self.keys(Self.second)
        )
        let sealed = try old.of(tenant).seal(bytes, at: ["a"])
        #expect(both.of(tenant).open(sealed, at: ["a"]) == bytes)
        #expect(!both.isNewest(sealed) && old.isNewest(sealed))
        #expect(new.of(tenant).open(sealed, at: ["a"]) == nil)
        let resealed = try both.of(tenant).seal(bytes, at: ["a"])
        #expect(both.isNewest(resealed) && new.isNewest(resealed))
        #expect(new.of(tenant).open(resealed, at: ["a"]) == bytes)
        #expect(old.of(tenant).open(resealed, at: ["a"]) == nil)
        // The row is found with the digest of either secret. The newest secret comes first.
        let digests = both.of(tenant).digests(of: bytes)
        #expect(digests == new.of(tenant).digests(of: bytes) + old.of(tenant).digests(of: bytes))
    }

    @Test func digestsDifferByTenantBytesAndSecret() throws {
        let keys = try Self.keys(Self.first)
        let digest = keys.of(tenant).digests(of: bytes)
        #expect(digest == keys.of(tenant).digests(of: bytes) && digest[0].count == 32)
        #expect(digest != keys.of(TenantID(UUID())).digests(of: bytes))
        #expect(digest != keys.of(tenant).digests(of: bytes + [0]))
        #expect(digest != (try Self.keys(Self.second)).of(tenant).digests(of: bytes))
    }

    @Test func tokenOpensOnlyForItsInstanceAndPurpose() throws {
        let keys = try Self.keys(Self.first)
        let token = try #require(PushToken(Array(repeating: 7, count: 32)))
        let instance = InstanceID(UUID())
        let places = [TokenKind.device, .start(attributesType: "a"), .activity("a")]
        for place in places {
            let sealed = try keys.of(tenant).seal(token, for: instance, at: place)
            for other in places {
                #expect(
                    (keys.of(tenant).openToken(sealed, for: instance, at: other) == token)
                        == (other == place))
            }
            #expect(keys.of(tenant).openToken(sealed, for: InstanceID(UUID()), at: place) == nil)
        }
    }
}

extension [UInt8] {
    fileprivate func contains(subsequence: [UInt8]) -> Bool {
        indices.contains { self[$0...].starts(with: subsequence) }
    }
}
