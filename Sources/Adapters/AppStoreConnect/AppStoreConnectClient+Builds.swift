public import AppStoreSync
import Formats

extension AppStoreConnectClient {
    /// The builds of an app that have a clip, and whether one of them is on the App Store.
    ///
    /// Bundles of builds have no path of their own: they are included with the builds. [Apple] The newest 200 builds are read,
    /// in one request. [ours]
    public func builds(
        bundleID: String, ofApp app: String
    ) async throws(AppStoreConnectError) -> ClipBuilds {
        let document: JSONObject
        do throws(AppStoreConnectError) {
            document = try await builds(ofApp: app, including: "appStoreVersion,buildBundles")
        } catch {
            // The service was seen to refuse parameters that the specification has.
            guard case .refused(let refusal) = error, refusal.isAboutParameters else { throw error }
            let plain = try await builds(ofApp: app, including: "buildBundles")
            return ClipBuilds(bundle: try Self.withClip(bundleID, in: plain).first?.bundle, release: nil)
        }
        let builds = try Self.withClip(bundleID, in: document)
        return ClipBuilds(bundle: builds.first?.bundle, release: Self.release(of: builds, in: document))
    }

    private func builds(
        ofApp app: String, including related: String
    ) async throws(AppStoreConnectError) -> JSONObject {
        try await get(
            "/v1/builds",
            [
                ("filter[app]", try Self.checked(app)), ("include", related),
                ("limit[buildBundles]", "50"), ("limit", "200"), ("sort", "-uploadedDate"),
            ])
    }

    private struct Build {
        let bundle: String
        /// The state of its version; nil for a build without one, such as a build only for TestFlight.
        let version: String?
    }

    /// The builds that have a clip, the newest first.
    private static func withClip(
        _ bundleID: String, in document: JSONObject
    ) throws(AppStoreConnectError) -> [Build] {
        guard let builds = document["data"]?.arrayValue else { throw unreadable }
        let clips = Set(
            included("buildBundles", in: document)
                .filter { $0.attributes["bundleId"]?.stringValue == bundleID }.map(\.id))
        return builds.compactMap { build in
            let related = build.objectValue?["relationships"]?.objectValue
            let bundles = related?["buildBundles"]?.objectValue?["data"]?.arrayValue ?? []
            let ids = bundles.compactMap { $0.objectValue?["id"]?.stringValue }
            guard let bundle = ids.first(where: clips.contains) else { return nil }
            let version = related?["appStoreVersion"]?.objectValue?["data"]?.objectValue?["id"]
            return Build(bundle: bundle, version: version?.stringValue)
        }
    }

    private static func release(of builds: [Build], in document: JSONObject) -> ClipRelease {
        let versions = Dictionary(
            included("appStoreVersions", in: document).map { ($0.id, Version($0.attributes)) },
            uniquingKeysWith: { first, _ in first })
        let found = builds.compactMap { build in build.version.flatMap { versions[$0] } }
        let published = found.first(where: \.isPublished)
        let shown = published ?? found.first
        let isComplete = document["links"]?.objectValue?["next"]?.stringValue == nil
        return ClipRelease(
            isPublished: published != nil ? true : isComplete ? false : nil, version: shown?.number,
            state: shown?.state)
    }

    private struct Version {
        let number: String?
        let state: String?
        let isPublished: Bool

        /// `appVersionState` replaced `appStoreState`, but only the latter shows that a version was removed from sale. [Apple]
        init(_ attributes: JSONObject) {
            let old = attributes["appStoreState"]?.stringValue
            let state = attributes["appVersionState"]?.stringValue ?? old
            let isRemoved = old == "REMOVED_FROM_SALE" || old == "DEVELOPER_REMOVED_FROM_SALE"
            isPublished = !isRemoved && (state == "READY_FOR_DISTRIBUTION" || state == "READY_FOR_SALE")
            self.state = (isRemoved ? old : state).flatMap { $0.isPlain(with: "_") ? $0 : nil }
            number = attributes["versionString"]?.stringValue.flatMap { $0.isPlain(with: ".") ? $0 : nil }
        }
    }

    private static func included(
        _ type: String, in document: JSONObject
    ) -> [(id: String, attributes: JSONObject)] {
        (document["included"]?.arrayValue ?? []).compactMap { value in
            guard let members = value.objectValue, members["type"]?.stringValue == type,
                let id = members["id"]?.stringValue
            else { return nil }
            return (id, members["attributes"]?.objectValue ?? [:])
        }
    }
}
