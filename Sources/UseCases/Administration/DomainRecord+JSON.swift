import AppSiteAssociation
import Foundation
public import JSON
import Lookups

extension DomainRecord: CatalogueItem {
    public static func key(named text: String) -> DomainName? { try? DomainName(text) }
    public static func name(of key: DomainName) -> String { key.text }
    public static func unknown(_ key: DomainName) -> AdministrationError { .unknownDomain(key) }
    public static let collection = "domains"
    public var key: DomainName { name }

    public var json: JSONObject {
        [
            "host": .string(name.text), "status": .string(status.rawValue),
            "method": proof.map { .string($0.method.rawValue) } ?? .null,
            "claimedAt": JSONValue(claimedAt),
            "provedAt": proof.map { JSONValue($0.provedAt) } ?? .null,
            "checkedAt": checkedAt.map { JSONValue($0) } ?? .null,
            "lapsedAt": lapsedAt.map { JSONValue($0) } ?? .null,
            "withdrawnFrom": withdrawnFrom.map { JSONValue($0) } ?? .null,
            "contestedAt": contestedAt.map { JSONValue($0) } ?? .null,
            "content": (content?.json).map(JSONValue.object) ?? .null,
            "pages": .string(pages.rawValue),
            "record": ["name": .string(recordName), "value": .string(recordValue)],
            "file": ["url": .string(fileURL), "content": .string(challenge)],
        ]
    }

    /// The claim with the content and the pages that somebody writes: none where nothing is said of them.
    ///
    /// The rest is not theirs to write: where it is said, it is said as it is.
    /// - Throws: `JSONFieldError`, `AssociationContentError`.
    public func replaced(by members: JSONObject) throws -> DomainRecord {
        let current = json
        for (name, value) in members where !["content", "pages"].contains(name) {
            guard let own = current[name] else {
                throw JSONFieldError.unknown(path: JSONPath.member(name, of: ""))
            }
            guard value == own || value == .null else {
                throw JSONFieldError.invalid(path: name, reason: "is not to be written, and must be as it is")
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

    /// The claim after a merge patch (RFC 7396), which can change its content and pages alone.
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
    /// The domain, and what was found.
    public var json: JSONObject {
        var json = record.json
        json["answered"] = .bool(lack?.isUnanswered != true)
        json["detail"] = lack.map { .string($0.reason) } ?? .null
        return json
    }
}

extension ArchivedDomain {
    /// What of a domain travels.
    var json: JSONObject {
        [
            "host": .string(name.text), "content": (content?.json).map(JSONValue.object) ?? .null,
            // Left out as what is null.
            "pages": pages == .off ? .null : .string(pages.rawValue),
        ]
    }

    init(_ fields: inout JSONObjectReader) throws {
        let host = try fields.requiredString("host")
        // As it was written: an archive is not edited by hand.
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
