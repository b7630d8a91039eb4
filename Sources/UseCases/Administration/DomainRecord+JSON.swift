import AppSiteAssociation
import Foundation
public import JSON

extension DomainRecord {
    public var json: JSONObject {
        [
            "host": .string(name.text), "status": .string(status.rawValue),
            "method": proof.map { .string($0.method.rawValue) } ?? .null,
            "claimedAt": JSONValue(claimedAt),
            "provedAt": proof.map { JSONValue($0.provedAt) } ?? .null,
            "checkedAt": checkedAt.map { JSONValue($0) } ?? .null,
            "lapsedAt": lapsedAt.map { JSONValue($0) } ?? .null,
            "withdrawnFrom": withdrawnFrom.map { JSONValue($0) } ?? .null,
            "content": (content?.json).map(JSONValue.object) ?? .null,
            "record": ["name": .string(recordName), "value": .string(recordValue)],
            "file": ["url": .string(fileURL), "content": .string(challenge)],
        ]
    }
}

extension ArchivedDomain {
    /// What of a domain travels.
    var json: JSONObject {
        ["host": .string(name.text), "content": (content?.json).map(JSONValue.object) ?? .null]
    }

    init(_ fields: inout JSONObjectReader) throws {
        let host = try fields.requiredString("host")
        // As it was written: an archive is not edited by hand.
        guard let name = try? DomainName(host), name.text == host else {
            throw RowRefusal("host", "not a domain name in lower-case ASCII")
        }
        let content = try fields.optionalMembers("content")
        self.init(
            name: name,
            content: try content.map { content in
                try RowRefusal.naming("content") { () throws(AssociationContentError) in
                    try AssociationContent(content)
                }
            })
    }
}
