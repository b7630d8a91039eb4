import AppAttestSimulator
import Testing

@testable import AppAttest

/// Each fault of a device is rejected with its own reason. Verification and inspection agree.
@Suite struct SoftwareDeviceTests {
    @Test(arguments: DeviceSystem.allCases) func softwareDeviceAttestsAndAsserts(
        _ system: DeviceSystem
    ) async throws {
        var device = try SoftwareDevice(system)
        let attestation = try device.attest()
        let key = try await device.verify(attestation)
        #expect(key.id == device.keyID)
        #expect(key.category == (system == .iOS27 ? .appStore : nil))
        #expect(key.bundleVersion == (system == .iOS27 ? "1" : nil))
        let inspection = await device.inspect(attestation)
        #expect(inspection.isAccepted)
        #expect(
            inspection.steps.map(\.reason) == [
                .format, .chain, .nonce, .keyID, .appID, .counter, .environment, .credential, .category,
                .bundleVersion,
            ])
        let verifier = try #require(AssertionVerifier(publicKey: key.publicKey))
        for counter in 1...3 as ClosedRange<UInt32> {
            let assertion = try verifier.verify(
                device.assert(), clientDataHash: SoftwareDevice.clientDataHash, after: counter - 1,
                policy: device.policy)
            #expect(assertion.counter == counter)
            #expect(assertion.category == key.category)
        }
    }

    @Test(arguments: AttestationFault.allCases, DeviceSystem.allCases)
    func faultIsRejectedWithItsReason(_ fault: AttestationFault, of system: DeviceSystem) async throws {
        let device = try SoftwareDevice(system)
        let attestation = try device.attest(fault)
        await #expect(throws: fault.refusal) { try await device.verify(attestation) }
        let inspection = await device.inspect(attestation)
        #expect(inspection.refusal == fault.refusal)
        #expect(!inspection.isAccepted)
    }

    @Test(arguments: AssertionFault.allCases, DeviceSystem.allCases)
    func faultIsRejectedWithItsReason(_ fault: AssertionFault, of system: DeviceSystem) async throws {
        var device = try SoftwareDevice(system)
        let key = try await device.verify(device.attest())
        let verifier = try #require(AssertionVerifier(publicKey: key.publicKey))
        let policy = device.policy
        let assertion = try device.assert(fault)
        #expect(throws: fault.refusal) {
            try verifier.verify(
                assertion, clientDataHash: SoftwareDevice.clientDataHash, after: 0, policy: policy)
        }
        let inspection = verifier.inspect(
            assertion, clientDataHash: SoftwareDevice.clientDataHash, after: 0, policy: policy)
        #expect(inspection.refusal == fault.refusal)
    }

    @Test func environmentCategoryAndVersionAreCheckedAgainstPolicy() async throws {
        var device = try SoftwareDevice()
        device.authenticator.environment = .development
        await #expect(throws: AttestationRefusal.environment(.notAllowed)) {
            try await device.verify(device.attest())
        }
        device.policy.environments = [.development]
        #expect(try await device.verify(device.attest()).environment == .development)
        device.authenticator.category = .enterprise
        device.policy.categories = [.appStore, .testFlight]
        await #expect(throws: AttestationRefusal.category(.notAllowed)) {
            try await device.verify(device.attest())
        }
        device.policy.categories = [.enterprise]
        device.policy.bundleVersions = ["2"]
        await #expect(throws: AttestationRefusal.bundleVersion(.notAllowed)) {
            try await device.verify(device.attest())
        }
    }

    /// A reloaded root is the same root. A verifier that trusts another root of the same name rejects its attestations.
    @Test func reloadedRootIsSameButOtherRootOfSameNameIsRejected() async throws {
        let root = try SoftwareRoot(at: SoftwareDevice.now)
        let again = try SoftwareRoot(pem: root.pem, keyPEM: root.keyPEM)
        #expect(again.pem == root.pem)
        let device = try SoftwareDevice()
        var other = try SoftwareAuthenticator(root: again, appID: device.policy.appIDs[0])
        let keyID = other.generateKey()
        let attestation = try other.attest(
            keyID: keyID, clientDataHash: SoftwareDevice.clientDataHash, at: SoftwareDevice.now)
        await #expect(throws: AttestationRefusal.chain(.otherRoot)) { try await device.verify(attestation) }
    }

    /// Each fault is rejected with a reason. Faults of CBOR, authenticator data, challenges and tokens are not counted here.
    @Test func faultyInputsNumberAtLeast71() {
        let objects = ObjectTests.attestations.count + ObjectTests.assertions.count
        #expect(AttestationFault.allCases.count + AssertionFault.allCases.count + objects >= 71)
    }

    /// An inspection reports the verdict of each step, also of the steps after the first refusal.
    @Test func inspectionReportsEachStepPastFirstRefusal() async throws {
        let device = try SoftwareDevice()
        let counted = await device.inspect(try device.attest(.counted)).steps
        #expect(counted.filter { $0.verdict != .passed }.map(\.reason) == [.counter])
        let unread = await device.inspect(try device.attest(.trailingByte)).steps
        #expect(unread.first?.verdict == .refused(.format(.trailingBytes)))
        #expect(unread.dropFirst().allSatisfy { $0.verdict == .notReached })
        let short = await device.inspect(try device.attest(.oneCertificate)).steps
        #expect(short.map(\.verdict).prefix(3) == [.passed, .refused(.chain(.wrongCount)), .notReached])
    }
}

extension AttestationFault {
    /// As what it is to be refused.
    fileprivate var refusal: AttestationRefusal {
        switch self {
        case .notCBOR: .format(.truncated)
        case .trailingByte: .format(.trailingBytes)
        case .duplicateKey: .format(.duplicateKey)
        case .otherFormat: .format(.fmt)
        case .missingReceipt: .format(.member)
        case .oneCertificate, .threeCertificates: .chain(.wrongCount)
        case .swappedCertificates: .chain(.swapped)
        case .notYetValid: .chain(.notYetValid)
        case .expired: .chain(.expired)
        case .intermediateIsNoAuthority: .chain(.intermediateNotCA)
        case .leafOfOtherAuthority: .chain(.badSignature)
        case .otherRoot: .chain(.otherRoot)
        case .unknownCriticalExtension: .chain(.policy)
        case .leafOnP384: .format(.leafKey)
        case .brokenCertificate: .format(.certificate)
        case .missingNonce: .nonce(.missing)
        case .longNonce: .nonce(.encoding)
        case .otherNonce: .nonce(.other)
        case .otherKey: .keyID
        case .otherApp: .appID
        case .counted: .counter(.notZero)
        case .unknownEnvironment: .environment(.unknown)
        case .shortCredential: .format(.authenticatorData)
        case .otherCredential: .credential(.id)
        case .otherPublicKey: .credential(.publicKey)
        case .unknownCategory: .category(.unknown)
        case .brokenCategory, .bothSpellings: .format(.extensions)
        }
    }
}

extension AssertionFault {
    /// As what it is to be refused.
    fileprivate var refusal: AttestationRefusal {
        switch self {
        case .notCBOR: .format(.truncated)
        case .trailingByte: .format(.trailingBytes)
        case .duplicateKey: .format(.duplicateKey)
        case .missingSignature: .format(.member)
        case .brokenSignature: .signature(.malformed)
        case .otherKey, .hashedOnce: .signature(.invalid)
        case .otherApp: .appID
        case .repeatedCounter: .counter(.notGreater)
        case .unknownCategory: .category(.unknown)
        case .shortData: .format(.authenticatorData)
        }
    }
}
