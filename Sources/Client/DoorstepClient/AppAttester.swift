public import Foundation

/// The App Attest functions that a session uses: `DCAppAttestService`, or a test's.
public protocol AppAttester: Sendable {
    /// False on simulators, and if the app may not use App Attest [Apple].
    var isSupported: Bool { get }
    /// Creates a key in the Secure Enclave.
    ///
    /// - Returns: Its ID, base64 of 32 bytes.
    func generateKey() async throws(AttesterFailure) -> String
    /// Asks Apple to attest a key. Works once per key: a second call for an attested key fails.
    func attestKey(_ keyID: String, clientDataHash: Data) async throws(AttesterFailure) -> Data
    /// Signs with a key, on the device.
    func generateAssertion(_ keyID: String, clientDataHash: Data) async throws(AttesterFailure) -> Data
}

/// The reason why the device returned no attestation or assertion.
public enum AttesterFailure: Error, Sendable, Hashable {
    /// Apple's server did not respond: try the same key again later [Apple:
    /// `DCError.serverUnavailable`].
    case serverUnavailable
    /// Any other error: a new key is needed [Apple].
    case other
}
