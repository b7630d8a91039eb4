import Crypto
public import Invocation

/// The data that an assertion proves besides its signature.
public struct VerifiedAssertion: Sendable, Hashable {
    /// The assertion's counter. Store it before the response is sent, unless a counter that is as great is
    /// already stored: then the assertion is a replay.
    public let counter: UInt32
    public let appID: AppID
    /// Nil before iOS 27.
    public let category: ValidationCategory?
    /// Nil before iOS 27.
    public let bundleVersion: String?
}

/// Verifies the assertions of one attested key.
///
/// Source: Apple, "Validating apps that connect to your server".
public struct AssertionVerifier: Sendable {
    private let key: P256.Signing.PublicKey

    /// - Parameter publicKey: The public key of an ``AttestedKey``; nil if it is no point of P-256.
    public init?(publicKey: [UInt8]) {
        guard let key = try? P256.Signing.PublicKey(x963Representation: publicKey) else { return nil }
        self.key = key
    }

    /// Verifies an assertion that the key signed.
    ///
    /// This function does not check that the challenge is the server's: the challenge is in the client
    /// data, which the server must construct.
    ///
    /// - Parameters:
    ///   - assertion: At most 4 KiB.
    ///   - clientDataHash: The SHA-256 that the app passed to `generateAssertion`.
    ///   - counter: The key's stored counter; zero before its first assertion.
    /// - Throws: The refusal of the first step that fails.
    public func verify(
        _ assertion: [UInt8], clientDataHash: [UInt8], after counter: UInt32, policy: AttestationPolicy
    ) throws(AttestationRefusal) -> VerifiedAssertion {
        let object = try AssertionObject(assertion)
        for step in steps(clientDataHash: clientDataHash, counter: counter, policy: policy) {
            if let refusal = step.check(object) { throw refusal }
        }
        let data = object.authenticatorData
        guard let appID = policy.appID(of: data) else { throw .appID }
        return VerifiedAssertion(
            counter: data.counter, appID: appID,
            category: data.category.flatMap(ValidationCategory.init(rawValue:)),
            bundleVersion: data.bundleVersion)
    }

    /// Returns the result of each step, including those after a failed one. Takes the parameters of
    /// ``verify(_:clientDataHash:after:policy:)``.
    public func inspect(
        _ assertion: [UInt8], clientDataHash: [UInt8], after counter: UInt32, policy: AttestationPolicy
    ) -> AttestationInspection {
        let object: Result<AssertionObject, AttestationRefusal>
        do throws(AttestationRefusal) {
            object = .success(try AssertionObject(assertion))
        } catch {
            object = .failure(error)
        }
        return AttestationInspection(
            object, steps(clientDataHash: clientDataHash, counter: counter, policy: policy))
    }

    private func steps(
        clientDataHash: [UInt8], counter: UInt32, policy: AttestationPolicy
    ) -> [VerificationStep<AssertionObject>] {
        [
            VerificationStep(.signature) { [key] object in
                guard let signature = try? P256.Signing.ECDSASignature(derRepresentation: object.signature)
                else { return .signature(.malformed) }
                // The nonce is the message, not its digest: it is hashed once more [observed].
                let nonce = Array(SHA256.hash(data: object.authenticatorBytes + clientDataHash))
                return key.isValidSignature(signature, for: nonce) ? nil : .signature(.invalid)
            },
            VerificationStep(.appID) { policy.appID(of: $0.authenticatorData) == nil ? .appID : nil },
            VerificationStep(.counter) {
                $0.authenticatorData.counter > counter ? nil : .counter(.notGreater)
            },
            VerificationStep(.category) { policy.categoryRefusal(of: $0.authenticatorData) },
            VerificationStep(.bundleVersion) { policy.bundleVersionRefusal(of: $0.authenticatorData) },
        ]
    }
}

/// A parsed assertion from a device, which is not verified yet.
struct AssertionObject: Sendable {
    /// The signature, in DER.
    let signature: [UInt8]
    let authenticatorBytes: [UInt8]
    let authenticatorData: AuthenticatorData

    /// Twenty times the length of observed assertions, in bytes. [ours]
    static let maximumLength = 4_096

    init(_ bytes: [UInt8]) throws(AttestationRefusal) {
        guard bytes.count <= Self.maximumLength else { throw .format(.tooLong) }
        guard case .map(let object) = try CBORReader.value(bytes),
            let signature = object["signature"]?.bytes,
            let authenticatorBytes = object["authenticatorData"]?.bytes
        else { throw .format(.member) }
        self.signature = signature
        self.authenticatorBytes = authenticatorBytes
        authenticatorData = try AuthenticatorData(ofAssertion: authenticatorBytes)
    }
}
