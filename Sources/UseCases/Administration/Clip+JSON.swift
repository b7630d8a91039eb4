import AppAttest
import AppSiteAssociation
public import JSON
public import Tenancy

extension Clip: WrittenItem {
    public static func key(named text: String) -> BundleID? { try? BundleID(text) }
    public static func name(of key: BundleID) -> String { key.text }
    public static func members(of key: BundleID) -> JSONObject { ["bundleID": .string(key.text)] }
    public static func unknown(_ key: BundleID) -> AdministrationError { .unknownClip(key) }
    public static func existing(_ key: BundleID) -> AdministrationError { .clipExists(key) }
    public static let collection = "clips"
    public static let forcing: String? = "unmonitored"
    public static var defaults: JSONObject { ["multiBusiness": false] }
    public static var omitted: Set<String> {
        ["androidURL", "appStoreID", "attestation", "card", "siteName"]
    }
    public var key: BundleID { bundleID }

    /// The App IDs' prefix follows the team, unless it is one of its own.
    public var patchable: JSONObject {
        var members = json
        if ownAppIDPrefix == nil { members["appIDPrefix"] = nil }
        return members
    }

    /// What protects the clip is taken away by who says so, with null: not by who writes the rest and knows nothing of it. [ours]
    public func keeping(_ current: Clip, where json: JSONObject) -> Clip {
        guard json["attestation"] == nil else { return self }
        var kept = self
        kept.attestation = current.attestation
        return kept
    }

    public var json: JSONObject {
        var members: JSONObject = [
            "bundleID": .string(bundleID.text), "parentBundleID": .string(parentBundleID.text),
            "teamID": .string(teamID.text), "appIDPrefix": .string(appIDPrefix.text),
            "multiBusiness": .bool(isMultiBusiness),
        ]
        if let attestation { members["attestation"] = .object(attestation.json) }
        members["appStoreID"] = links.appStoreID.map(JSONValue.string)
        members["androidURL"] = links.androidURL.map(JSONValue.string)
        members["siteName"] = (links.siteName?.text).map(JSONValue.string)
        card.add(to: &members)
        return members
    }

    public init(_ fields: inout JSONObjectReader) throws {
        let (bundle, team) = (try fields.requiredString("bundleID"), try fields.requiredString("teamID"))
        let bundleID = try RowRefusal.naming("bundleID") { () throws(TenancyError) in try BundleID(bundle) }
        let teamID = try RowRefusal.naming("teamID") { () throws(TenancyError) in try TeamID(team) }
        let prefix = try fields.optionalString("appIDPrefix")
        let appIDPrefix = try prefix.map { text in
            try RowRefusal.naming("appIDPrefix") { () throws(TenancyError) in try AppIDPrefix(text) }
        }
        let isMultiBusiness = try fields.requiredBool("multiBusiness")
        let attestation = try fields.optionalObject("attestation").map { fields throws(JSONFieldError) in
            try ClipAttestation(fields)
        }
        let links = try ClipLinks(&fields)
        let card = try fields.card()
        let parentBundleID = try fields.optionalString("parentBundleID").map { text in
            try RowRefusal.naming("parentBundleID") { () throws(TenancyError) in try BundleID(text) }
        }
        self = try RowRefusal.naming({ $0 == .clipWithoutParent ? "bundleID" : "parentBundleID" }) {
            () throws(AdministrationError) in
            try Clip(
                bundleID: bundleID, parentBundleID: parentBundleID, teamID: teamID, appIDPrefix: appIDPrefix,
                isMultiBusiness: isMultiBusiness, attestation: attestation, links: links, card: card)
        }
    }
}

extension ClipLinks {
    fileprivate init(_ fields: inout JSONObjectReader) throws {
        let (appStoreID, androidURL) = (
            try fields.optionalString("appStoreID"), try fields.optionalString("androidURL")
        )
        let siteName = try fields.optionalString("siteName").map { text in
            try RowRefusal.naming("siteName") { () throws(AdministrationError) in try DisplayName(text) }
        }
        self = try RowRefusal.naming({ $0 == .invalidAppStoreID ? "appStoreID" : "androidURL" }) {
            () throws(AdministrationError) in
            try ClipLinks(appStoreID: appStoreID, androidURL: androidURL, siteName: siteName)
        }
    }
}
