import AppAttest
public import Formats
import Invocation
public import Tenancy

extension Clip: WritableResource {
    public static let fields: [Field<Clip>] = [
        Field(
            "bundleID", .identifier(1...155, pattern: #"^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+){2,}$"#), .key,
            "The clip's bundle ID.", column: "bundle_id"
        ) { .text($0.bundleID.text) },
        Field(
            "parentBundleID", .identifier(1...153, pattern: #"^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$"#), .optional,
            """
            The bundle ID of the clip's app. It is a prefix of the clip's bundle ID. The default is the clip's bundle ID without \
            its last component.
            """, column: "parent_bundle_id"
        ) { .text($0.parentBundleID.text) },
        Field(
            "teamID", .identifier(10...10, pattern: "^[A-Z0-9]{10}$"), .required,
            "The team's ID, ten characters.", column: "team_id"
        ) { .text($0.teamID.text) },
        // A clip without its own prefix uses the team's ID. If its team changes, its prefix changes, too.
        Field(
            "appIDPrefix", .identifier(10...10, pattern: "^[A-Z0-9]{10}$"), .optional,
            "The prefix of the App IDs. It is the team ID for all but old apps.", column: "app_id_prefix",
            shown: { .text($0.appIDPrefix.text) }
        ) { FieldValue($0.ownAppIDPrefix?.text) },
        Field(
            "multiBusiness", .flag, .optional,
            "Whether the clip serves many businesses, so that each notification must name one.",
            column: "multi_business", default: false
        ) { .flag($0.isMultiBusiness) },
        Field(
            "attestation", .object("ClipAttestation"), .optional,
            "Which requests App Attest must protect.", isOmitted: true
        ) { FieldValue($0.attestation?.json) },
        Field(
            "appStoreID", .identifier(1...19, pattern: "^[1-9][0-9]{0,18}$"), .optional,
            "The app's ID in the App Store.", column: "app_store_id", isOmitted: true
        ) { FieldValue($0.links.appStoreID) },
        Field(
            "androidURL", .url, .optional, "The https URL that Android users are sent to.",
            column: "android_url", isOmitted: true
        ) { FieldValue($0.links.androidURL) },
        Field(
            "siteName", .text(1...128), .optional, "The name of the site.", column: "site_name",
            isOmitted: true
        ) { FieldValue($0.links.siteName?.text) },
        Field(
            "card", .card, .optional,
            "The card of the clip's experiences, unless they or their locations say otherwise.",
            isOmitted: true
        ) { FieldValue($0.card) },
    ]

    public init(_ values: inout some FieldValues) throws {
        let bundleID = try values.text("bundleID") { text throws(TenancyError) in try BundleID(text) }
        let teamID = try values.text("teamID") { text throws(TenancyError) in try TeamID(text) }
        let prefix = try values.optionalText("appIDPrefix") { text throws(TenancyError) in
            try AppIDPrefix(text)
        }
        let isMultiBusiness = try values.flag("multiBusiness")
        let attestation = try values.optionalMembers("attestation").map { members throws(JSONFieldError) in
            try ClipAttestation(JSONObjectReader(members, path: "attestation"))
        }
        let (appStoreID, androidURL) = (
            try values.optionalText("appStoreID"), try values.optionalText("androidURL")
        )
        let siteName = try values.optionalDisplayName("siteName")
        let links = try values.naming({ $0 == .invalidAppStoreID ? "appStoreID" : "androidURL" }) {
            () throws(AdministrationError) in
            try ClipLinks(appStoreID: appStoreID, androidURL: androidURL, siteName: siteName)
        }
        let card = try values.card()
        let parentBundleID = try values.optionalText("parentBundleID") { text throws(TenancyError) in
            try BundleID(text)
        }
        self = try values.naming({ $0 == .clipWithoutParent ? "bundleID" : "parentBundleID" }) {
            () throws(AdministrationError) in
            try Clip(
                bundleID: bundleID, parentBundleID: parentBundleID, teamID: teamID, appIDPrefix: prefix,
                isMultiBusiness: isMultiBusiness, attestation: attestation, links: links, card: card)
        }
    }

    public static func key(named text: String) -> BundleID? { try? BundleID(text) }
    public static func name(of key: BundleID) -> String { key.text }
    public static func members(of key: BundleID) -> JSONObject { ["bundleID": .string(key.text)] }
    public static func unknown(_ key: BundleID) -> AdministrationError { .unknownClip(key) }
    public static func existing(_ key: BundleID) -> AdministrationError { .clipExists(key) }
    public static let collection = "clips"
    public static let forcing: String? = "unmonitored"
    public var key: BundleID { bundleID }

    /// Only an explicit null removes the attestation: a client that does not know the member keeps it. [ours]
    public func keeping(_ current: Clip, where json: JSONObject) -> Clip {
        guard json["attestation"] == nil else { return self }
        var kept = self
        kept.attestation = current.attestation
        return kept
    }
}
