#if canImport(DeviceCheck)
    import DeviceCheck
    public import Foundation

    /// App Attest of the device. A thin wrapper, since it can only be built on Apple's systems.
    public struct DeviceAttester: AppAttester {
        /// Creates an attester; all use the process's one service.
        public init() {}

        /// See ``AppAttester/isSupported``.
        public var isSupported: Bool { DCAppAttestService.shared.isSupported }

        /// See ``AppAttester/generateKey()``.
        public func generateKey() async throws(AttesterFailure) -> String {
            do { return try await DCAppAttestService.shared.generateKey() } catch {
                throw Self.failure(error)
            }
        }

        /// See ``AppAttester/attestKey(_:clientDataHash:)``.
        public func attestKey(
            _ keyID: String, clientDataHash: Data
        ) async throws(AttesterFailure) -> Data {
            do {
                return try await DCAppAttestService.shared.attestKey(keyID, clientDataHash: clientDataHash)
            } catch { throw Self.failure(error) }
        }

        /// See ``AppAttester/generateAssertion(_:clientDataHash:)``.
        public func generateAssertion(
            _ keyID: String, clientDataHash: Data
        ) async throws(AttesterFailure) -> Data {
            do {
                return try await DCAppAttestService.shared.generateAssertion(
                    keyID, clientDataHash: clientDataHash)
            } catch { throw Self.failure(error) }
        }

        private static func failure(_ error: any Error) -> AttesterFailure {
            (error as? DCError)?.code == .serverUnavailable ? .serverUnavailable : .other
        }
    }
#endif
