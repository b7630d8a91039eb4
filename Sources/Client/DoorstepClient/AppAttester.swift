public import Foundation

/// App Attest as a session uses it: `DCAppAttestService`, or a test's.
public protocol AppAttester: Sendable {
    /// False on simulators, and where the app may not use it [documented].
    var isSupported: Bool { get }
    /// Makes a key in the Secure Enclave.
    /// - Returns: Its ID, base64 of 32 bytes.
    func generateKey() async throws(AttesterFailure) -> String
    /// Has Apple attest a key. Once for each key: for one that was attested it fails.
    func attestKey(_ keyID: String, clientDataHash: Data) async throws(AttesterFailure) -> Data
    /// Signs by a key, on the device.
    func generateAssertion(_ keyID: String, clientDataHash: Data) async throws(AttesterFailure) -> Data
}

/// The reason why the device returned no attestation or assertion.
public enum AttesterFailure: Error, Sendable, Hashable {
    /// Apple's server did not respond: try the same key again later [documented:
    /// `DCError.serverUnavailable`].
    case serverUnavailable
    /// Anything else: a new key is needed [documented].
    case other
}
