import AppAttestSimulator
import Crypto
import Foundation
import Invocation
import PropertyTesting
import Testing

@testable import AppAttest

/// Attestations and assertions of real devices with iOS 14 to 27 are accepted. They are rejected if one bit or circumstance
/// changes.
@Suite struct DeviceVectorTests {
    @Test func deviceVectorsArePresent() {
        #expect(DeviceAttestation.all.count == 6)
        #expect(DeviceAssertion.all.count == 4)
    }

    @Test(arguments: DeviceAttestation.all) func deviceAttestationIsVerified(
        _ device: DeviceAttestation
    ) async throws {
        let key = try await device.verify()
        #expect(key.id == device.keyID)
        #expect(SHA256.hash(data: key.publicKey) == device.keyID)
        #expect(key.publicKey.count == 65)
        #expect(key.appID == device.policy.appIDs[0])
        #expect(key.environment == device.environment)
        #expect(key.category == device.category)
        #expect(key.bundleVersion == device.bundleVersion)
        #expect(!key.receipt.isEmpty)
    }

    @Test(arguments: DeviceAssertion.all) func deviceAssertionIsVerified(_ device: DeviceAssertion) throws {
        let assertion = try device.verify()
        #expect(assertion.counter == device.counter)
        #expect(assertion.appID == device.policy.appIDs[0])
        #expect(assertion.category == nil)
        #expect(assertion.bundleVersion == nil)
    }

    @Test(arguments: DeviceAssertion.all) func assertionKeyEqualsAttestedKey(
        _ device: DeviceAssertion
    ) async throws {
        let attestation = try #require(DeviceAttestation.all.first { $0.name == device.name })
        #expect(try await attestation.verify().publicKey == device.publicKey)
    }

    /// Each change concerns one circumstance of an attestation.
    static let changes: [Change<DeviceAttestation>] = [
        Change("challenge", .nonce(.other)) { $0.clientDataHash = $0.clientDataHash.reversed() },
        Change("key ID", .keyID) { $0.keyID = $0.keyID.reversed() },
        Change("short key ID", .keyID) { $0.keyID.removeLast() },
        Change("app", .appID) { $0.policy.appIDs = [try AppID("ABCDE12345.com.example.Other")] },
        Change("no app", .appID) { $0.policy.appIDs = [] },
        Change("environment", .environment(.notAllowed)) {
            $0.policy.environments = Set(AttestationEnvironment.allCases).subtracting([$0.environment])
        },
        Change("before", .chain(.notYetValid)) { $0.now += -2 * 86_400 },
        Change("a year after", .chain(.expired)) { $0.now += 365 * 86_400 },
        Change("when the root has expired", .chain(.expired)) { $0.now += 30 * 365 * 86_400 },
    ]

    @Test(arguments: DeviceAttestation.all, changes)
    func changedInputIsRejected(
        _ device: DeviceAttestation, _ change: Change<DeviceAttestation>
    ) async throws {
        var changed = device
        try change.make(&changed)
        await #expect(throws: change.refusal) { try await changed.verify() }
    }

    @Test(arguments: DeviceAttestation.all) func attestationUnderOtherRootIsRejected(
        _ device: DeviceAttestation
    ) async throws {
        let root = try #require(AttestationRoot(pem: SoftwareRoot(at: device.now).pem))
        await #expect(throws: AttestationRefusal.chain(.otherRoot)) { try await device.verify(root: root) }
    }

    @Test func buildOutsidePolicyIsRejected() async throws {
        var device = try #require(DeviceAttestation.all.first { $0.category == .operatingSystem })
        device.policy.categories = [.operatingSystem]
        device.policy.bundleVersions = ["1"]
        device.policy.requiresStatements = true
        _ = try await device.verify()
        device.policy.bundleVersions = ["2"]
        await #expect(throws: AttestationRefusal.bundleVersion(.notAllowed)) { try await device.verify() }
        device.policy.categories = [.appStore]
        await #expect(throws: AttestationRefusal.category(.notAllowed)) { try await device.verify() }
        var old = try #require(DeviceAttestation.all.first { $0.category == nil })
        old.policy.requiresStatements = true
        await #expect(throws: AttestationRefusal.category(.missing)) { try await old.verify() }
    }

    /// Each change concerns one circumstance of an assertion.
    static let assertionChanges: [Change<DeviceAssertion>] = [
        Change("client data", .signature(.invalid)) { $0.clientDataHash = $0.clientDataHash.reversed() },
        Change("key", .signature(.invalid)) {
            $0.publicKey = Array(P256.Signing.PrivateKey().publicKey.x963Representation)
        },
        Change("app", .appID) { $0.policy.appIDs = [try AppID("ABCDE12345.com.example.Other")] },
        Change("counter", .counter(.notGreater)) { $0.previousCounter = $0.counter },
        Change("greatest counter", .counter(.notGreater)) { $0.previousCounter = .max },
    ]

    @Test(arguments: DeviceAssertion.all, assertionChanges)
    func changedInputIsRejected(_ device: DeviceAssertion, _ change: Change<DeviceAssertion>) throws {
        var changed = device
        try change.make(&changed)
        #expect(throws: change.refusal) { try changed.verify() }
    }

    @Test func anyAllowedAppIsAccepted() async throws {
        var device = try #require(DeviceAttestation.all.first)
        let expected = device.policy.appIDs[0]
        device.policy.appIDs = [try AppID("ABCDE12345.com.example.Other"), expected]
        #expect(try await device.verify().appID == expected)
    }

    /// Nothing signs the receipt: any other bit is noticed.
    @Test(arguments: DeviceAttestation.all) func flippedBitIsRejected(
        _ device: DeviceAttestation
    ) async throws {
        let receipt = try AttestationObject(device.bytes).receipt
        let range = try #require(device.bytes.firstRange(of: receipt))
        let bits = (0..<device.bytes.count * 8).filter { !range.contains($0 / 8) }
        for bit in Self.sample(of: bits) {
            var changed = device
            changed.bytes[bit / 8] ^= 1 << (bit % 8)
            await #expect(throws: AttestationRefusal.self, "bit \(bit)") { try await changed.verify() }
        }
    }

    @Test(arguments: DeviceAssertion.all) func flippedBitIsRejected(_ device: DeviceAssertion) {
        for bit in Self.sample(of: Array(0..<device.bytes.count * 8)) {
            var changed = device
            changed.bytes[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: AttestationRefusal.self, "bit \(bit)") { try changed.verify() }
        }
    }

    /// 100 bits, or the number in `DOORSTEP_TEST_BITS`, or all bits if its value is `all`. deploy/nightly sets it.
    private static func sample(of bits: [Int]) -> ArraySlice<Int> {
        let wish = ProcessInfo.processInfo.environment["DOORSTEP_TEST_BITS"]
        var generator = SplitMix64(seed: 27)
        return bits.shuffled(using: &generator).prefix(wish == "all" ? .max : wish.flatMap { Int($0) } ?? 100)
    }
}

/// Something that makes a good input a wrong one, and how it is refused.
struct Change<Input>: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let refusal: AttestationRefusal
    let make: @Sendable (inout Input) throws -> Void

    init(
        _ name: String, _ refusal: AttestationRefusal, make: @escaping @Sendable (inout Input) throws -> Void
    ) {
        testDescription = name
        self.refusal = refusal
        self.make = make
    }
}
