import Crypto
import Foundation
import Testing

@testable import DoorstepClient

@Suite struct SHA256DigestTests {
    /// All lengths up to three blocks, because the padding differs with each.
    @Test func digestMatchesSwiftCrypto() {
        for length in 0...192 {
            let message = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ length) }
            #expect(SHA256Digest.of(message) == Data(SHA256.hash(data: message)), "\(length) bytes")
        }
    }
}
