public import AppStoreSync
public import Cards
public import Tenancy

/// App Store Connect as App Store sync uses it, for one clip.
public struct AppStoreConnectService: ExperienceService {
    private let client: AppStoreConnectClient
    private let bundleID: BundleID
    private let appBundleID: BundleID

    /// - Parameter app: the app that the clip is of.
    public init(_ client: AppStoreConnectClient, clip: BundleID, app: BundleID) {
        self.client = client
        bundleID = clip
        appBundleID = app
    }

    public func clip() async throws(ServiceFailure) -> RegisteredClip {
        let found = try await asking { () throws(AppStoreConnectError) -> (StoreApp, String?)? in
            guard let app = try await client.app(bundleID: appBundleID.text) else { return nil }
            return (app, try await client.clipID(bundleID: bundleID.text, ofApp: app.id))
        }
        guard let (app, clip) = found else {
            throw ServiceFailure(
                .stop, code: "no_app",
                description: "the key has no access to an app \(appBundleID) in App Store Connect")
        }
        guard let clip else {
            throw ServiceFailure(
                .stop, code: "no_clip",
                description:
                    "App Store Connect has no clip \(bundleID): upload a build that contains it")
        }
        guard let language = try? CardLanguage(tag: app.primaryLocale) else {
            throw ServiceFailure(
                .stop, code: "unknown_language",
                description: "the app's primary language is not a language of cards: \(app.primaryLocale)")
        }
        return RegisteredClip(id: clip, primaryLanguage: language)
    }

    public func listing(
        ofClip clip: String, images: [String: ImageDigest]
    ) async throws(ServiceFailure) -> ExperienceListing {
        try await asking { () throws(AppStoreConnectError) in
            try await client.listing(ofClip: clip, images: images)
        }
    }

    public func builds() async throws(ServiceFailure) -> ClipBuilds? {
        try await asking { () throws(AppStoreConnectError) -> ClipBuilds? in
            guard let app = try await client.app(bundleID: appBundleID.text) else { return nil }
            return try await client.builds(bundleID: bundleID.text, ofApp: app.id)
        }
    }

    public func domains(ofBundle bundle: String) async throws(ServiceFailure) -> [AssociatedDomain] {
        try await asking { () throws(AppStoreConnectError) in try await client.domains(ofBundle: bundle) }
    }

    public func exists(_ id: String) async throws(ServiceFailure) -> Bool {
        try await asking { () throws(AppStoreConnectError) in try await client.experience(id) != nil }
    }

    public func create(
        at link: String, _ content: ExperienceContent, clip: String, image: String, fence: @escaping Fence
    ) async throws(ServiceFailure) -> String {
        try await asking { () throws(AppStoreConnectError) in
            try await client.createExperience(
                at: link, content, clip: clip, image: image, fence: fence)
        }
    }

    public func update(
        _ id: String, _ changes: [FieldChange], to content: ExperienceContent,
        localizations: [CardLanguage: String], image: String?, fence: @escaping Fence
    ) async throws(ServiceFailure) {
        try await asking { () throws(AppStoreConnectError) in
            try await client.updateExperience(
                id, changes, to: content, localizations: localizations, image: image, fence: fence)
        }
    }

    public func remove(_ id: String, fence: @escaping Fence) async throws(ServiceFailure) {
        try await asking { () throws(AppStoreConnectError) in
            try await client.removeExperience(id, fence: fence)
        }
    }

    public func reserveImage(
        fileName: String, byteCount: Int, fence: @escaping Fence
    ) async throws(ServiceFailure) -> ImageReservation {
        try await asking { () throws(AppStoreConnectError) in
            try await client.reserveImage(fileName: fileName, byteCount: byteCount, fence: fence)
        }
    }

    public func upload(_ file: [UInt8], _ operation: UploadOperation) async throws(ServiceFailure) {
        try await asking { () throws(AppStoreConnectError) in try await client.upload(file, operation) }
    }

    public func commitImage(
        _ id: String, md5: String, fence: @escaping Fence
    ) async throws(ServiceFailure) -> ImageState {
        try await asking { () throws(AppStoreConnectError) in
            try await client.commitImage(id, md5: md5, fence: fence)
        }
    }

    public func image(_ id: String) async throws(ServiceFailure) -> ImageState? {
        try await asking { () throws(AppStoreConnectError) in try await client.image(id) }
    }

    private func asking<Result>(
        _ body: () async throws(AppStoreConnectError) -> Result
    ) async throws(ServiceFailure) -> Result {
        do throws(AppStoreConnectError) {
            return try await body()
        } catch {
            throw error.failure
        }
    }
}

extension AppStoreConnectError {
    /// The failure as the sync sees it.
    var failure: ServiceFailure {
        switch self {
        case .refused(let refusal):
            let telling = refusal.tellingError
            return ServiceFailure(
                refusal.verdict, code: telling?.code ?? "status_\(refusal.status)", source: telling?.source,
                requestID: refusal.requestID, mayHaveHappened: mayHaveHappened,
                isTooManyRequests: refusal.status == 429, description: description)
        case .noResponse, .unreadableResponse:
            return ServiceFailure(.wait, code: code, mayHaveHappened: true, description: description)
        case .partRefused(let status):
            let verdict: ServiceFailure.Verdict =
                status == 408 || status == 429 || status >= 500 ? .wait : .reject
            return ServiceFailure(verdict, code: code, description: description)
        case .unusableUpload: return ServiceFailure(.reject, code: code, description: description)
        case .unusableKey, .readsOnly, .notPaced, .withdrawn:
            return ServiceFailure(.stop, code: code, description: description)
        }
    }
}
