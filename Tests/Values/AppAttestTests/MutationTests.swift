import PropertyTesting
import Testing

@testable import AppAttest

/// Randomly changed bytes are rejected with a reason. None of them crashes the process.
@Suite struct MutationTests {
    /// Attestations and assertions of devices, and the authenticator data in them.
    private static func seeds() throws -> [[UInt8]] {
        let attestations = DeviceAttestation.all.map(\.bytes)
        let assertions = DeviceAssertion.all.map(\.bytes)
        return try assertions + attestations.map { try AttestationObject($0).authenticatorBytes }
            + assertions.map { try AssertionObject($0).authenticatorBytes }
            + [AuthenticatorDataTests.head + AuthenticatorDataTests.extensions("validationCategory", [4])]
    }

    @Test(arguments: 0..<4 as Range<UInt64>) func readersReturnValueOrRefusalForMutatedBytes(
        seed: UInt64
    ) throws {
        var generator = SplitMix64(seed: seed)
        let seeds = try Self.seeds()
        var (read, refused) = (0, 0)
        for _ in 0..<25_000 {
            let bytes = Self.mutated(generator.pick(seeds), using: &generator)
            var reader = CBORReader(bytes)
            do throws(AttestationRefusal) {
                _ = try reader.item()
                read += 1
            } catch {
                #expect(error.reason == .format)
                refused += 1
            }
            #expect(reader.steps + reader.rest.count == bytes.count)
            _ = try? AuthenticatorData(ofAttestation: bytes)
            _ = try? AuthenticatorData(ofAssertion: bytes)
        }
        #expect(read > 100 && refused > 100)
    }

    @Test(arguments: 0..<4 as Range<UInt64>) func verifiersReturnValueOrRefusalForMutatedBytes(
        seed: UInt64
    ) async throws {
        var generator = SplitMix64(seed: seed)
        for _ in 0..<100 {
            var attestation = generator.pick(DeviceAttestation.all)
            let receipt = try AttestationObject(attestation.bytes).receipt
            attestation.bytes = Self.mutated(attestation.bytes, using: &generator)
            do {
                let key = try await attestation.verify()
                #expect(key.id == attestation.keyID)
                #expect(key.receipt != receipt, "something else than the receipt was changed unnoticed")
            } catch {
                #expect(error is AttestationRefusal)
            }
            var assertion = generator.pick(DeviceAssertion.all)
            assertion.bytes = Self.mutated(assertion.bytes, using: &generator)
            #expect(throws: AttestationRefusal.self) { try assertion.verify() }
        }
    }

    /// With one to four bytes changed, taken away, put in or copied from elsewhere; never the same.
    private static func mutated(_ original: [UInt8], using generator: inout SplitMix64) -> [UInt8] {
        var bytes = original
        repeat {
            for _ in 0...generator.below(4) where !bytes.isEmpty {
                let place = generator.below(bytes.count)
                switch generator.below(6) {
                case 0: bytes[place] ^= 1 << UInt8(generator.below(8))
                case 1: bytes[place] = generator.pick([0x00, 0x1B, 0x5B, 0x5F, 0x7F, 0x9B, 0xA5, 0xBB, 0xFF])
                case 2: bytes.remove(at: place)
                case 3: bytes.insert(UInt8(truncatingIfNeeded: generator.next()), at: place)
                case 4: bytes.removeLast(generator.below(bytes.count))
                default: bytes[place] = bytes[generator.below(bytes.count)]
                }
            }
        } while bytes == original
        return bytes
    }
}
