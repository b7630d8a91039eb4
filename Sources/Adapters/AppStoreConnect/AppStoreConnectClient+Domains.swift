import JSON
public import Registration

extension AppStoreConnectClient {
    /// What Apple's cache has of the sites that a clip names in the newest build that has it; nil without one.
    ///
    /// Bundles of builds have no path of their own: they come with the builds. [Apple]
    public func domains(
        bundleID: String, ofApp app: String
    ) async throws(AppStoreConnectError) -> [AssociatedDomain]? {
        let builds = try await get(
            "/v1/builds",
            [
                ("filter[app]", try Self.checked(app)), ("include", "buildBundles"),
                ("limit[buildBundles]", "50"), ("limit", "10"), ("sort", "-uploadedDate"),
            ])
        guard let bundle = try Self.bundle(bundleID, in: builds) else { return nil }
        let document = try await get(
            "/v1/buildBundles/\(try Self.checked(bundle))/appClipDomainCacheStatus")
        guard let data = document["data"] else { throw Self.unreadable }
        // A clip whose sites Apple has not looked at yet.
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

    /// The bundle of a clip in the first build that has one.
    private static func bundle(
        _ bundleID: String, in document: JSONObject
    ) throws(AppStoreConnectError) -> String? {
        guard let builds = document["data"]?.arrayValue else { throw unreadable }
        var clips: Set<String> = []
        for value in document["included"]?.arrayValue ?? [] {
            guard let members = value.objectValue, members["type"] == "buildBundles",
                let id = members["id"]?.stringValue,
                members["attributes"]?.objectValue?["bundleId"]?.stringValue == bundleID
            else { continue }
            clips.insert(id)
        }
        for build in builds {
            let bundles = build.objectValue?["relationships"]?.objectValue?["buildBundles"]?.objectValue
            let ids = (bundles?["data"]?.arrayValue ?? []).compactMap { $0.objectValue?["id"]?.stringValue }
            if let id = ids.first(where: clips.contains) { return id }
        }
        return nil
    }
}
