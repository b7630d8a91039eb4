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

    @Test func secretsThatAreMissingOrShortAreRefused() {
        #expect(SealingKeys(secrets: []) == nil)
        #expect(SealingKeys(secrets: [String(repeating: "a", count: 31)]) == nil)
        #expect(SealingKeys(secrets: [Self.first, ""]) == nil)
        #expect(SealingKeys(secrets: [Self.first]) != nil)
    }

    @Test func whatIsSealedOpensAtItsPlaceAlone() throws {
        let keys = try Self.keys(Self.first)
        let sealed = try keys.seal(bytes, of: tenant, at: ["a", "b"])
        #expect(keys.open(sealed, of: tenant, at: ["a", "b"]) == bytes)
        #expect(keys.open(sealed, of: TenantID(UUID()), at: ["a", "b"]) == nil)
        for place in [["ab"], ["a", "b", ""], ["b", "a"], ["a", "c"], ["a1:b"], []] {
            #expect(keys.open(sealed, of: tenant, at: place) == nil, "\(place)")
        }
    }

    /// No change of one bit goes unnoticed, and no part opens.
    @Test func whatWasChangedDoesNotOpen() throws {
        let keys = try Self.keys(Self.first)
        let sealed = try keys.seal(bytes, of: tenant, at: ["a"])
        for index in sealed.indices {
            for bit in 0..<8 {
                var changed = sealed
                changed[index] ^= 1 << UInt8(bit)
                #expect(keys.open(changed, of: tenant, at: ["a"]) == nil, "byte \(index), bit \(bit)")
            }
            #expect(keys.open(Array(sealed.prefix(index)), of: tenant, at: ["a"]) == nil)
        }
    }

    @Test func theSameIsNeverSealedAlike() throws {
        let keys = try Self.keys(Self.first)
        let sealed = try (0..<100).map { _ in try keys.seal(bytes, of: tenant, at: ["a"]) }
        #expect(Set(sealed).count == 100)
        #expect(sealed.allSatisfy { !$0.contains(subsequence: bytes) })
    }

    @Test func aSecretIsReplacedInThreeSteps() throws {
        let (old, both, new) = (
            try Self.keys(Self.first), try Self.keys(Self.second, Self.first), try Self.keys(Self.second)
        )
        let sealed = try old.seal(bytes, of: tenant, at: ["a"])
        #expect(both.open(sealed, of: tenant, at: ["a"]) == bytes)
        #expect(!both.isNewest(sealed) && old.isNewest(sealed))
        #expect(new.open(sealed, of: tenant, at: ["a"]) == nil)
        let resealed = try both.seal(bytes, of: tenant, at: ["a"])
        #expect(both.isNewest(resealed) && new.isNewest(resealed))
        #expect(new.open(resealed, of: tenant, at: ["a"]) == bytes)
        #expect(old.open(resealed, of: tenant, at: ["a"]) == nil)
        // Found by the digest of either, the newest first.
        let digests = both.digests(of: bytes, of: tenant)
        #expect(digests == new.digests(of: bytes, of: tenant) + old.digests(of: bytes, of: tenant))
    }

    @Test func digestsTellTenantsAndBytesApart() throws {
        let keys = try Self.keys(Self.first)
        let digest = keys.digests(of: bytes, of: tenant)
        #expect(digest == keys.digests(of: bytes, of: tenant) && digest[0].count == 32)
        #expect(digest != keys.digests(of: bytes, of: TenantID(UUID())))
        #expect(digest != keys.digests(of: bytes + [0], of: tenant))
        #expect(digest != (try Self.keys(Self.second)).digests(of: bytes, of: tenant))
    }

    @Test func aTokenOpensForItsInstanceAndPlaceAlone() throws {
        let keys = try Self.keys(Self.first)
        let token = try #require(PushToken(Array(repeating: 7, count: 32)))
        let instance = InstanceID(UUID())
        let places = [TokenPlace.device, .start(attributesType: "a"), .activity("a")]
        for place in places {
            let sealed = try keys.seal(token, of: tenant, for: instance, at: place)
            for other in places {
                #expect(
                    (keys.openToken(sealed, of: tenant, for: instance, at: other) == token)
                        == (other == place))
            }
            #expect(keys.openToken(sealed, of: tenant, for: InstanceID(UUID()), at: place) == nil)
        }
    }
}

extension [UInt8] {
    fileprivate func contains(subsequence: [UInt8]) -> Bool {
        indices.contains { self[$0...].starts(with: subsequence) }
    }
}
