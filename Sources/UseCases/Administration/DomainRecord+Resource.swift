public import Formats
import Foundation
import Invocation
import Lookups

extension DomainRecord: Resource {
    public static let fields: [Field<DomainRecord>] = [
        Field(
            "host", .identifier(1...253, pattern: #"^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})+$"#), .key,
            "The domain name in lower-case ASCII."
        ) { .text($0.name.text) },
        Field(
            "status", .choice(["claimed", "proved", "lapsed", "withdrawn"]), .readOnly,
            "`lapsed`: the proof is missing. The domain is served until `withdrawnFrom`.", isStored: false
        ) { .text($0.status.rawValue) },
        Field(
            "method", .choice(ProofMethod.allCases.map(\.rawValue)), .readOnly, "The method of the proof.",
            isNullable: true
        ) { FieldValue($0.proof?.method.rawValue) },
        Field("claimedAt", .date, .readOnly, "When the tenant claimed the domain.", column: "claimed_at") {
            .date($0.claimedAt)
        },
        Field(
            "provedAt", .date, .readOnly, "When the domain was proved.", column: "proved_at",
            isNullable: true
        ) { FieldValue($0.proof?.provedAt) },
        Field(
            "checkedAt", .date, .readOnly, "When the proof was last checked with a response.",
            column: "checked_at", isNullable: true
        ) { FieldValue($0.checkedAt) },
        Field(
            "lapsedAt", .date, .readOnly, "Since when the proof is missing.", column: "lapsed_at",
            isNullable: true
        ) { FieldValue($0.lapsedAt) },
        Field(
            "withdrawnFrom", .date, .readOnly,
            "From this time, a check withdraws the domain if the proof is still missing.",
            isStored: false, isNullable: true
        ) { FieldValue($0.withdrawnFrom) },
        Field(
            "contestedAt", .date, .readOnly,
            """
            For a verified domain: when another tenant first had a proof, too. For a claim: when its proof was first found although \
            another tenant holds the domain.
            """, column: "contested_at", isNullable: true
        ) { FieldValue($0.contestedAt) },
        Field("content", .object(""), .optional, "The content that is merged into the association file.") {
            FieldValue($0.content?.json)
        },
        Field(
            "pages", .choice(DomainPages.allCases.map(\.rawValue)), .optional,
            """
            Whether the verified domain shows pages to people. `redirecting_short_codes` also redirects the URL of a short code to \
            its target, if the tenant has verified the target's host, too.
            """,
            default: .string(DomainPages.off.rawValue)
        ) { .text($0.pages.rawValue) },
        Field(
            "record", .object("ProvingRecord"), .readOnly, "The DNS record that proves the domain.",
            isStored: false
        ) { .members(["name": .string($0.recordName), "value": .string($0.recordValue)]) },
        Field(
            "file", .object("ProvingFile"), .readOnly, "The file that proves the domain.", isStored: false
        ) { .members(["url": .string($0.fileURL), "content": .string($0.challenge)]) },
    ]

    public init(_ values: inout some FieldValues) throws {
        // JSON shows the challenge as the content of the file.
        let challenge: String? =
            if values.isStored {
                try values.text("challenge")
            } else {
                try values.members("file")["content"]?.stringValue
            }
        guard let challenge else { throw values.missing("file") }
        var proof: Proof?
        if let provedAt = try values.optionalDate("provedAt") {
            proof = Proof(method: try values.choice("method", of: ProofMethod.self), provedAt: provedAt)
        }
        self.init(
            name: try values.text("host") { text throws(AdministrationError) in try DomainName(text) },
            challenge: challenge, claimedAt: try values.date("claimedAt"), proof: proof,
            checkedAt: try values.optionalDate("checkedAt"), lapsedAt: try values.optionalDate("lapsedAt"),
            contestedAt: try values.optionalDate("contestedAt"),
            content: try values.optionalMembers("content").map { try AssociationContent($0) },
            pages: try values.optionalChoice("pages", of: DomainPages.self) ?? .off)
    }

    public static func key(named text: String) -> DomainName? { try? DomainName(text) }
    public static func name(of key: DomainName) -> String { key.text }
    public static func unknown(_ key: DomainName) -> AdministrationError { .unknownDomain(key) }
    public static let collection = "domains"
    public var key: DomainName { name }

    /// The claim with the content and the pages of the members. Missing fields become empty.
    ///
    /// A read-only member may be sent back unchanged.
    /// - Throws: `JSONFieldError`, `AssociationContentError`.
    public func replaced(by members: JSONObject) throws -> DomainRecord {
        let current = json
        for (name, value) in members where !["content", "pages"].contains(name) {
            guard let own = current[name] else {
                throw JSONFieldError.unknown(path: JSONPath.member(name, of: ""))
            }
            guard value == own || value == .null else {
                throw JSONFieldError.invalid(
                    path: name, reason: "is read-only; leave it out or send its current value")
            }
        }
        var fields = JSONObjectReader(members)
        let record = showing(try fields.optionalCase("pages", of: DomainPages.self) ?? .off)
        guard let value = members["content"], value != .null else { return record.with(nil) }
        guard let content = value.objectValue else {
            throw JSONFieldError.wrongType(path: "content", expected: "an object or null")
        }
        return record.with(try AssociationContent(content))
    }

    /// The claim after a merge patch (RFC 7396), which can change only its content and pages.
    /// - Throws: as ``replaced(by:)``.
    public func patched(by patch: JSONObject) throws -> DomainRecord {
        let current = json
        if let (name, _) = patch.first(where: { current[$0.key] == nil }) {
            throw JSONFieldError.unknown(path: JSONPath.member(name, of: ""))
        }
        return try replaced(by: JSONValue.object(current).merging(.object(patch)).objectValue ?? [:])
    }
}

extension DomainVerification.Outcome {
    /// The domain, and the result of the check.
    public var json: JSONObject {
        var json = record.json
        json["answered"] = .bool(lack?.isUnanswered != true)
        json["detail"] = lack.map { .string($0.reason) } ?? .null
        return json
    }
}

extension ArchivedDomain {
    /// The domain in an archive.
    var json: JSONObject {
        [
            "host": .string(name.text), "content": (content?.json).map(JSONValue.object) ?? .null,
            // Omitted if null.
            "pages": pages == .off ? .null : .string(pages.rawValue),
        ]
    }

    init(_ fields: inout JSONObjectReader) throws {
        let host = try fields.requiredString("host")
        // Accepts only the canonical form, because people do not edit archives by hand.
        guard let name = try? DomainName(host), name.text == host else {
            throw RowRefusal("host", "not a domain name in lower-case ASCII")
        }
        let content = try fields.optionalMembers("content")
        let pages = try fields.optionalCase("pages", of: DomainPages.self)
        self.init(
            name: name,
            content: try content.map { content in
                try RowRefusal.naming("content") { () throws(AssociationContentError) in
                    try AssociationContent(content)
                }
            }, pages: pages ?? .off)
    }
}
