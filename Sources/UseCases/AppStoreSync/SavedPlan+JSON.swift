public import Formats
import Foundation
import Tenancy

extension SavedPlan {
    /// The file: JSON, with all changes to send.
    public var json: JSONObject {
        var options: JSONObject = [
            "adopts": .bool(wishes.adopts), "allowedRemovals": JSONValue(wishes.allowedRemovals),
            "grace": JSONValue(Int(wishes.grace)), "retriesRefused": .bool(wishes.retriesRefused),
        ]
        options["allowedMassRemoval"] = wishes.allowedMassRemoval.map { JSONValue($0) }
        options["target"] = wishes.target.map(JSONValue.string)
        return [
            "format": .string(Self.format), "version": JSONValue(Self.formatVersion),
            "tenant": .string(tenant.description), "clip": .string(clip.text), "madeAt": JSONValue(madeAt),
            "options": .object(options),
            "changes": .array(
                changes.sorted { $0.key < $1.key }.map { url, step in
                    var json = SyncPlan.Row(url: url, step: step, findings: []).json
                    json["content"] = step.content.map { .object($0.json) }
                    return .object(json)
                }),
        ]
    }

    /// Reads what ``json`` writes.
    /// - Throws: `SyncError.notAPlan`.
    public init(json: JSONValue) throws(SyncError) {
        do throws(JSONFieldError) {
            self = try Self.read(JSONObjectReader(json))
        } catch {
            throw .notAPlan("\(error)")
        }
    }

    private static let format = "doorstep app store plan"

    private static func read(_ reader: JSONObjectReader) throws(JSONFieldError) -> SavedPlan {
        var fields = reader
        guard try fields.requiredString("format") == format else {
            throw .invalid(path: "format", reason: "is not the format of a plan")
        }
        guard try fields.requiredInteger("version") == formatVersion else {
            throw .invalid(path: "version", reason: "is the version of another Doorstep")
        }
        guard let tenant = UUID(uuidString: try fields.requiredString("tenant")) else {
            throw .invalid(path: "tenant", reason: "is not a tenant's ID")
        }
        guard let clip = try? BundleID(fields.requiredString("clip")) else {
            throw .invalid(path: "clip", reason: "is not a bundle ID")
        }
        guard let madeAt = Date(rfc3339: try fields.requiredString("madeAt")) else {
            throw .invalid(path: "madeAt", reason: "is not a time")
        }
        var options = try fields.requiredObject("options")
        var wishes = SyncRunner.Wishes()
        wishes.adopts = try options.requiredBool("adopts")
        wishes.allowedRemovals = try options.requiredInteger("allowedRemovals")
        wishes.allowedMassRemoval = try options.optionalInteger("allowedMassRemoval")
        wishes.grace = TimeInterval(try options.requiredInteger("grace"))
        wishes.retriesRefused = try options.requiredBool("retriesRefused")
        wishes.target = try options.optionalString("target")
        try options.finish()
        var changes: [String: SyncPlan.Step] = [:]
        for (index, value) in try fields.requiredArray("changes").enumerated() {
            var change = try JSONObjectReader(value, path: "changes[\(index)]")
            let url = try change.requiredString("url")
            changes[url] = try SyncPlan.Step(change: &change)
            try change.finish()
        }
        try fields.finish()
        return SavedPlan(
            tenant: TenantID(tenant), clip: clip, madeAt: madeAt, wishes: wishes, changes: changes)
    }
}

extension SyncPlan.Step {
    /// The changes to send.
    fileprivate var content: ExperienceContent? {
        switch self {
        case .create(let content), .update(_, _, let content), .adopt(_, _, let content): content
        case .remove, .blocked, .unmanaged, .inStep: nil
        }
    }

    /// Reads a step that is a change.
    fileprivate init(change reader: inout JSONObjectReader) throws(JSONFieldError) {
        let name = try reader.requiredString("step")
        switch name {
        case "create": self = .create(try ExperienceContent(reader.requiredObject("content")))
        case "update", "adopt":
            let id = try reader.requiredString("id")
            var changes: [FieldChange] = []
            for value in try reader.requiredArray("changes") {
                changes.append(try FieldChange(JSONObjectReader(value, path: reader.path(of: "changes"))))
            }
            let content = try ExperienceContent(reader.requiredObject("content"))
            self = name == "update" ? .update(id: id, changes, content) : .adopt(id: id, changes, content)
        case "remove": self = .remove(id: try reader.requiredString("id"))
        default: throw .invalid(path: reader.path(of: "step"), reason: "is not a change")
        }
    }
}

extension FieldChange {
    fileprivate init(_ reader: JSONObjectReader) throws(JSONFieldError) {
        var fields = reader
        path = try fields.requiredString("path")
        // A missing value at Apple is written as null.
        let old = fields.optionalValue("old")
        self.old = old == .null ? nil : old
        new = try fields.requiredValue("new")
        cause = try fields.requiredCase("cause", of: Cause.self)
        try fields.finish()
    }
}
