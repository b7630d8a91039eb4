#if canImport(DeviceCheck)
    import DeviceCheck
    public import Foundation

    /// App Attest of the device. Thin, since it is built on Apple's systems alone.
    public struct DeviceAttester: AppAttester {
        /// There is one service for each process.
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
