public import AppStoreSync
import Formats

extension AppStoreConnectClient {
    /// Apple's cache of the sites that a build's clip names.
    public func domains(ofBundle bundle: String) async throws(AppStoreConnectError) -> [AssociatedDomain] {
        let document = try await get(
            "/v1/buildBundles/\(try Self.checked(bundle))/appClipDomainCacheStatus")
        guard let data = document["data"] else { throw Self.unreadable }
        // A clip whose sites Apple has not checked yet.
        guard let attributes = data.objectValue?["attributes"]?.objectValue else { return [] }
        return (attributes["domains"]?.arrayValue ?? []).prefix(Self.maximumDomains).compactMap { value in
            guard let members = value.objectValue, let host = members["domain"]?.stringValue,
                let isValid = members["isValid"]?.boolValue
            else { return nil }
            let code = members["errorCode"]?.stringValue.flatMap { $0.isPlain(with: "_") ? $0 : nil }
            return AssociatedDomain(
                host: host, isValid: isValid, errorCode: code,
                updatedAt: members["lastUpdatedDate"]?.stringValue.flatMap {
                    $0.isPlain(with: ":.+-") ? $0 : nil
                })
        }
    }

    /// An entitlement was never seen with as many. [ours]
    private static let maximumDomains = 100
}
