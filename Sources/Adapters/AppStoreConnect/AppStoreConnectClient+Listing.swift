public import AppStoreSync
public import Cards
import Formats

extension AppStoreConnectClient {
    /// The app with a bundle ID; nil if the key has no access to such an app.
    public func app(bundleID: String) async throws(AppStoreConnectError) -> StoreApp? {
        let fields = ("fields[apps]", "bundleId,primaryLocale")
        let document = try await get("/v1/apps", [("filter[bundleId]", bundleID), fields, ("limit", "200")])
        guard let app = try Self.row(document, bundleID: bundleID) else { return nil }
        guard let locale = app.attributes["primaryLocale"]?.stringValue else { throw Self.unreadable }
        return StoreApp(id: app.id, primaryLocale: locale)
    }

    /// The identifier of an app's clip; nil if no build with the clip was uploaded yet.
    public func clipID(
        bundleID: String, ofApp app: String
    ) async throws(AppStoreConnectError) -> String? {
        let document = try await get(
            "/v1/apps/\(try Self.checked(app))/appClips", [("filter[bundleId]", bundleID), ("limit", "200")])
        return try Self.row(document, bundleID: bundleID)?.id
    }

    /// All experiences of a clip, page by page.
    ///
    /// No page is requested twice: the list shows whether it is complete, and the caller lists again.
    /// - Parameter images: the digests of images that are on record, by their identifiers.
    public func listing(
        ofClip clip: String, images: [String: ImageDigest] = [:]
    ) async throws(AppStoreConnectError) -> ExperienceListing {
        let path = "/v1/appClips/\(try Self.checked(clip))/appClipAdvancedExperiences"
        do throws(AppStoreConnectError) {
            return try await listing(path, Self.query + Self.limits, images)
        } catch {
            // The service was seen to refuse parameters that the specification has; without `include` nothing can be read.
            guard case .refused(let refusal) = error, refusal.isAboutParameters else { throw error }
            return try await listing(path, Self.query, images)
        }
    }

    /// One experience; nil if it does not exist.
    public func experience(
        _ id: String, images: [String: ImageDigest] = [:]
    ) async throws(AppStoreConnectError) -> ExperienceListing? {
        let document: JSONObject
        do throws(AppStoreConnectError) {
            document = try await get(
                "/v1/appClipAdvancedExperiences/\(try Self.checked(id))", Self.query + [Self.textLimit])
        } catch {
            guard case .refused(let refusal) = error, refusal.verdict == .gone else { throw error }
            return nil
        }
        guard let data = document["data"] else { throw Self.unreadable }
        let row = ListedExperience(data, at: 1, ListedExperience.Included(document), images: images)
        return Self.listing([row], total: 1)
    }

    // MARK: Pages

    private static let query = [("include", "headerImage,localizations")]
    /// More than there are languages, so that no experience's texts come in pages.
    private static let textLimit = ("limit[localizations]", "50")
    private static let limits = [
        ("limit", "200"), textLimit, ("fields[appClipAdvancedExperienceImages]", "fileName"),
    ]
    /// Of 200,000 experiences; a listing that leads round in a circle ends. [ours]
    private static let maximumPages = 1_000

    private func listing(
        _ path: String, _ query: [(String, String)], _ images: [String: ImageDigest]
    ) async throws(AppStoreConnectError) -> ExperienceListing {
        let scope = Self.scope(path, query)
        var rows: [ListedExperience] = []
        var totals: Set<Int?> = []
        var page = try await get(path, query)
        for _ in 0..<Self.maximumPages {
            let included = ListedExperience.Included(page)
            guard let data = page["data"]?.arrayValue else { throw Self.unreadable }
            for value in data {
                rows.append(ListedExperience(value, at: rows.count + 1, included, images: images))
            }
            totals.insert(page["meta"]?.objectValue?["paging"]?.objectValue?["total"]?.numberValue?.int)
            guard let next = page["links"]?.objectValue?["next"]?.stringValue else {
                // If the total changes between pages, rows have moved.
                return Self.listing(rows, total: totals.count == 1 ? totals.first ?? nil : nil)
            }
            do throws(AppStoreConnectError) {
                page = try await follow(next, scope: scope)
            } catch {
                // A cursor that has become stale.
                guard case .refused(let refusal) = error, refusal.isAboutParameters else { throw error }
                break
            }
        }
        return Self.listing(rows, total: nil)
    }

    private static func listing(_ rows: [ListedExperience], total: Int?) -> ExperienceListing {
        ExperienceListing(
            listing: RemoteListing(rows.map(\.remote), total: total),
            localizationIDs: Dictionary(rows.map { ($0.remote.id, $0.localizationIDs) }) { _, last in last },
            imageIDs: Dictionary(rows.compactMap { row in row.imageID.map { (row.remote.id, $0) } }) {
                _, last in last
            })
    }

    // MARK: Documents

    static let unreadable = AppStoreConnectError.unreadableResponse(status: 200, requestID: nil)

    /// An identifier that cannot lead to another path: Apple's are letters, digits, `-`, `_` and `=`.
    static func checked(_ id: String) throws(AppStoreConnectError) -> String {
        guard id.isPlain(upTo: 256, with: "-_=") else { throw unreadable }
        return id
    }

    private static func row(
        _ document: JSONObject, bundleID: String
    ) throws(AppStoreConnectError) -> (id: String, attributes: JSONObject)? {
        guard let rows = document["data"]?.arrayValue else { throw unreadable }
        for row in rows {
            guard let members = row.objectValue, let id = members["id"]?.stringValue,
                let attributes = members["attributes"]?.objectValue
            else { throw unreadable }
            // The filter was seen to take other bundle IDs that begin alike.
            if attributes["bundleId"]?.stringValue == bundleID { return (id, attributes) }
        }
        return nil
    }
}

extension ServiceRefusal {
    var isAboutParameters: Bool {
        status == 400 && errors.contains { $0.code.hasPrefix(ErrorCode.parameter.rawValue) }
    }
}
