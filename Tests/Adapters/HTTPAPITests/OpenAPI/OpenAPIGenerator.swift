import Administration
import Formats
import Foundation
import HTTPTypes
import Notifications
import Tenancy

@testable import HTTPAPI
@testable import Lookups

/// Makes the OpenAPI document from the endpoints and the fragments in `Sources/Adapters/HTTPAPI/OpenAPI`.
///
/// Fragments contain summaries, schemas, successful responses and examples. The generator adds everything that an ``Endpoint`` and
/// its problems declare: security, path parameters, header fields, media types and errors. For each type of webhook message, a
/// fragment has the schema of its data; the examples are the samples of `doorstep webhook trigger`.
struct OpenAPIGenerator {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The shared parts: the document's head and `components`.
    private var document: JSONObject
    /// Members, header fields and an example for each problem's code.
    private let problems: JSONObject
    private var operations: [String: Operation] = [:]
    /// The fragments of webhook messages by type.
    private var messages: JSONObject = [:]
    private var tags: [JSONValue] = []
    private var schemas: JSONObject
    private var responses: JSONObject
    /// An example for each problem's code.
    private var examples: JSONObject = [:]

    private struct Operation {
        let fragment: JSONObject
        let tag: JSONValue
        let pathParameters: JSONObject
    }

    /// - Throws: If two fragments describe the same operation or schema.
    init(fragments folder: URL) throws {
        var files: [String: JSONObject] = [:]
        for url in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        where url.lastPathComponent != "Collection.json" {
            files[url.lastPathComponent] = try Self.object(JSONValue(parsing: [UInt8](Data(contentsOf: url))))
        }
        let template = try String(contentsOf: folder.appending(path: "Collection.json"), encoding: .utf8)
        for kind in TenantArchive.collections {
            let fragment = CollectionFragment(kind, template)
            guard files[fragment.name] == nil else { continue }
            files[fragment.name] = try Self.object(JSONValue(parsing: [UInt8](fragment.text.utf8)))
        }
        document = files.removeValue(forKey: "Document.json") ?? [:]
        problems = files.removeValue(forKey: "Problems.json") ?? [:]
        let components = try Self.object(document["components"])
        schemas = try Self.object(components["schemas"])
        responses = JSONObject()
        for (name, response) in try Self.object(components["responses"]) {
            responses[name] = .object(Self.success(try Self.object(response), requiresKey: true))
        }
        for (name, file) in files.sorted(by: { $0.key < $1.key }) { try add(file, name) }
    }

    private mutating func add(_ file: JSONObject, _ name: String) throws {
        let tag = try Self.object(file["tag"])
        tags.append(.object(tag))
        for (key, fragment) in try Self.object(file["operations"]) {
            guard operations[key] == nil else {
                throw Failure(description: "\(name): \(key) is described twice")
            }
            operations[key] = Operation(
                fragment: try Self.object(fragment), tag: tag["name"] ?? .null,
                pathParameters: file["pathParameters"]?.objectValue ?? [:])
        }
        for (type, message) in file["webhooks"]?.objectValue ?? [:] { messages[type] = message }
        for (key, schema) in file["schemas"]?.objectValue ?? [:] {
            guard schemas[key] == nil else {
                throw Failure(description: "\(name): schema \(key) exists already")
            }
            schemas[key] = schema
        }
    }

    /// Completes a schema. The member `fields` is replaced by the properties of a resource, or by the values of an enumeration. The
    /// member `extends` is replaced by the members of the schema that it names.
    private func completed(_ schema: JSONValue) throws -> JSONValue {
        if let array = schema.arrayValue { return .array(try array.map(completed)) }
        guard var object = schema.objectValue else { return schema }
        for (key, member) in object { object[key] = try completed(member) }
        if let name = object["extends"]?.stringValue { try extend(&object, by: name) }
        guard let name = object["fields"]?.stringValue else { return .object(object) }
        object["fields"] = nil
        let words = name.split(separator: " ")
        switch (words[0], SchemaForm(rawValue: String(words.last ?? ""))) {
        case ("clip", let form?): object.add(Clip.self, as: form)
        case ("domain", let form?): object.add(DomainRecord.self, as: form)
        case ("image", let form?): object.add(CardImage.self, as: form)
        case ("webhook", nil) where name == "webhook events":
            object["enum"] = .array(WebhookEvent.allCases.map { .string($0.rawValue) })
        case ("key", nil) where name == "key scopes":
            object["enum"] = .array(Scope.allCases.map { .string($0.rawValue) })
        case ("key", nil) where name == "key kinds":
            object["enum"] = .array(KeyKind.allCases.map { .string($0.rawValue) })
        case ("location", nil) where name == "location in lookups":
            let texts = Set(LocationColumn.texts.map { "\($0)" })
            object.add(LocationRecord.fields.filter { texts.contains($0.name) }, as: .omitted)
        case (let word, let form?):
            guard let kind = TenantArchive.collections.first(where: { $0.typeName == word }) else {
                throw Failure(description: "no resource is named \(word)")
            }
            object.add(kind, as: form)
        default: throw Failure(description: "no fields are named \(name)")
        }
        // Metadata cannot have the name of a field.
        if var properties = object["properties"]?.objectValue,
            var metadata = properties["metadata"]?.objectValue,
            var names = metadata["propertyNames"]?.objectValue
        {
            names["not"] = ["enum": .array(LocationRecord.fields.filter(\.isCell).map { .string($0.cell) })]
            metadata["propertyNames"] = .object(names)
            properties["metadata"] = .object(metadata)
            object["properties"] = .object(properties)
        }
        return .object(object)
    }

    private func extend(_ object: inout JSONObject, by name: String) throws {
        let base = try Self.object(completed(schemas[name] ?? .null))
        object["extends"] = nil
        for (key, member) in base where object[key] == nil { object[key] = member }
        var properties = base["properties"]?.objectValue ?? [:]
        for (key, member) in object["properties"]?.objectValue ?? [:] { properties[key] = member }
        object["properties"] = .object(properties)
        object["required"] = .array(
            (base["required"]?.arrayValue ?? []) + (object["required"]?.arrayValue ?? []))
    }

    private static func object(_ value: JSONValue?) throws -> JSONObject {
        guard let object = value?.objectValue else {
            throw Failure(description: "a fragment lacks an object")
        }
        return object
    }

    /// The whole document.
    /// - Throws: If an endpoint has no fragment, or a fragment no endpoint.
    mutating func document(of endpoints: [Endpoint]) throws -> String {
        var paths: JSONObject = [:]
        for endpoint in endpoints {
            let key = "\(endpoint.method) \(endpoint.path)"
            guard let operation = operations.removeValue(forKey: key) else {
                throw Failure(description: "no fragment describes \(key)")
            }
            var path = paths[endpoint.path]?.objectValue ?? [:]
            path[endpoint.method.rawValue.lowercased()] = .object(try described(endpoint, operation))
            paths[endpoint.path] = .object(path)
        }
        guard operations.isEmpty else {
            throw Failure(description: "fragments without an endpoint: \(operations.keys.sorted())")
        }
        // Not `webhooks`: for these, openapi-generator 7.26 makes operations with untyped parameters.
        document["x-webhooks"] = .object(try webhooks())
        var components = try Self.object(document["components"])
        components["schemas"] = .object(
            try schemas.reduce(into: JSONObject()) { $0[$1.key] = try completed($1.value) })
        components["responses"] = .object(responses)
        components["examples"] = .object(examples)
        document["components"] = .object(components)
        document["paths"] = .object(paths)
        document["tags"] = .array(tags)
        return JSONValue.object(ClientForm.document(document)).prettyPrinted() + "\n"
    }

    // MARK: Operations

    private mutating func described(_ endpoint: Endpoint, _ operation: Operation) throws -> JSONObject {
        var described = operation.fragment
        described["tags"] = [operation.tag]
        described["security"] = endpoint.requiresKey ? [["key": []]] : []
        let parameters =
            try pathParameters(of: endpoint, operation) + headerParameters(of: endpoint)
            + (operation.fragment["parameters"]?.arrayValue ?? [])
        if !parameters.isEmpty { described["parameters"] = .array(parameters) }
        if let body = operation.fragment["requestBody"]?.objectValue {
            described["requestBody"] = [
                "required": .bool(!endpoint.isBodyOptional),
                "content": body["content"] ?? .object(Self.content(body, endpoint.bodyTypes)),
            ]
        }
        guard endpoint.bodyTypes.isEmpty == (described["requestBody"] == nil) else {
            throw Failure(
                description: "\(endpoint.method) \(endpoint.path): requestBody and bodyTypes differ")
        }
        var all: JSONObject = [:]
        for (status, response) in try Self.object(operation.fragment["responses"]) {
            all[status] = .object(
                Self.success(
                    try Self.object(response), requiresKey: endpoint.requiresKey,
                    storesResponse: endpoint.idempotency == .storedResponse))
        }
        for (status, problems) in Dictionary(grouping: endpoint.problems, by: \.status.code) {
            all["\(status)"] = error(status, problems.sorted { $0.code < $1.code })
        }
        described["responses"] = .object(all)
        return described
    }

    private func pathParameters(of endpoint: Endpoint, _ operation: Operation) throws -> [JSONValue] {
        try endpoint.path.split(separator: "/").filter { $0.hasPrefix("{") }.map { segment in
            let name = String(segment.dropFirst().dropLast())
            guard var parameter = operation.pathParameters[name]?.objectValue else {
                throw Failure(description: "\(endpoint.path): pathParameters lack \(name)")
            }
            parameter["name"] = .string(name)
            parameter["in"] = "path"
            parameter["required"] = true
            return .object(parameter)
        }
    }

    private func headerParameters(of endpoint: Endpoint) -> [JSONValue] {
        let codes = Set(endpoint.problems.map(\.code))
        let names = [
            (endpoint.idempotency != .refused, "IdempotencyKey"),
            (codes.contains(ProblemType.attestationRequired.code), "Attestation"),
            (codes.contains(ProblemType.preconditionFailed.code), "IfMatch"),
            (codes.contains(ProblemType.preconditionFailed.code) && endpoint.method == .put, "IfNoneMatch"),
        ]
        return names.filter(\.0).map { ["$ref": .string("#/components/parameters/\($0.1)")] }
    }

    /// Uses the same schema for each type, and adds the examples once.
    private static func content(_ body: JSONObject, _ types: [BodyType]) -> JSONObject {
        var content: JSONObject = [:]
        for (index, type) in types.enumerated() {
            content["\(type.name)"] = index == 0 ? .object(body) : ["schema": body["schema"] ?? true]
        }
        return content
    }

    // MARK: Webhooks

    /// - Throws: If a message type has no fragment, or a fragment has no message type.
    private mutating func webhooks() throws -> JSONObject {
        var webhooks: JSONObject = [:]
        for type in WebhookEvent.messageTypes {
            guard let fragment = messages[type]?.objectValue,
                let data = fragment["data"]?.objectValue, let summary = fragment["summary"],
                let description = fragment["description"]
            else { throw Failure(description: "no fragment describes the webhook message \(type)") }
            messages[type] = nil
            let name = Self.pascalCase(type)
            if data["$ref"] == nil { schemas["\(name)Data"] = .object(data) }
            schemas["\(name)Message"] = [
                "type": "object",
                "properties": [
                    "id": ["type": "string", "format": "uuid", "description": "The `webhook-id`."],
                    "type": ["enum": [.string(type)]],
                    "timestamp": [
                        "type": "string", "format": "date-time", "description": "The time of the event.",
                    ],
                    "sample": [
                        "type": "boolean", "description": "True for a sample, absent for a real event.",
                    ],
                    "data": data["$ref"] == nil ? Self.reference("schemas", "\(name)Data") : .object(data),
                ],
                "required": ["id", "type", "timestamp", "data"], "additionalProperties": false,
            ]
            let example: JSONValue = [
                "id": "0195511f-d940-7000-8000-0000000000a1", "type": .string(type),
                "timestamp": "2026-03-01T12:30:00Z",
                "data": .object(WebhookEvent(rawValue: type)?.sample ?? [:]),
            ]
            webhooks[type] = [
                "post": [
                    "operationId": .string("receive\(name)"), "tags": ["Webhooks"], "security": [],
                    "summary": summary, "description": description,
                    "parameters": .array(
                        ["WebhookID", "WebhookTimestamp", "WebhookSignature"].map {
                            Self.reference("parameters", $0)
                        }),
                    "requestBody": [
                        "required": true,
                        "content": [
                            "application/json": [
                                "schema": Self.reference("schemas", "\(name)Message"), "example": example,
                            ]
                        ],
                    ],
                    "responses": [
                        "2XX": ["description": "The message is accepted."],
                        "410": ["description": "The webhook is switched off."],
                        "default": ["description": "The message is sent again later."],
                    ],
                ]
            ]
        }
        guard messages.isEmpty else {
            throw Failure(description: "fragments without a webhook event: \(messages.map(\.key).sorted())")
        }
        return webhooks
    }

    // MARK: Responses

    private static func success(
        _ fragment: JSONObject, requiresKey: Bool, storesResponse: Bool = false
    ) -> JSONObject {
        guard fragment["$ref"] == nil else { return fragment }
        var response = fragment
        var content: JSONObject = [:]
        for key in ["schema", "example", "examples"] {
            content[key] = response[key]
            response[key] = nil
        }
        if !content.isEmpty { response["content"] = ["application/json": .object(content)] }
        var headers = Self.headers(["X-Request-ID": "RequestID"])
        if fragment["headers"]?.objectValue?["Cache-Control"] == nil {
            headers["Cache-Control"] = reference("headers", "NoStore")
        }
        if requiresKey {
            headers["RateLimit-Policy"] = reference("headers", "RateLimitPolicy")
            headers["RateLimit"] = reference("headers", "RateLimit")
        }
        if storesResponse {
            headers["Idempotent-Replayed"] = reference("headers", "IdempotentReplayed")
        }
        for (name, header) in fragment["headers"]?.objectValue ?? [:] { headers[name] = header }
        response["headers"] = .object(headers)
        return response
    }

    /// The response of several problems, or a reference to the shared response of one problem, which is added if it is missing.
    ///
    /// Only responses with one problem have a name. Otherwise a new problem of an endpoint would rename its responses.
    private mutating func error(_ status: Int, _ types: [ProblemType]) -> JSONValue {
        guard types.count == 1 else { return .object(errorResponse(status, types)) }
        let name = Self.pascalCase(types[0].code)
        if responses[name] == nil { responses[name] = .object(errorResponse(status, types)) }
        return Self.reference("responses", name)
    }

    /// Generated clients read each error as a `Problem`. The exact members of these problems are the media type's `x-current`.
    private mutating func errorResponse(_ status: Int, _ types: [ProblemType]) -> JSONObject {
        var schema: JSONObject = ["allOf": [Self.reference("schemas", "Problem")]]
        var members: [String: [JSONValue]] = [:]
        var headers = Self.headers(["X-Request-ID": "RequestID"])
        var examples: JSONObject = [:]
        for type in types {
            let problem = problems[type.code]?.objectValue ?? [:]
            for (name, member) in problem["properties"]?.objectValue ?? [:]
            where members[name]?.contains(member) != true { members[name, default: []].append(member) }
            for (name, header) in problem["headers"]?.objectValue ?? [:] {
                var header = header.objectValue ?? [:]
                // The other problems of the response may come without it.
                if types.count > 1 { header["required"] = nil }
                headers[name] = .object(header)
            }
            if types.count == 1 { schema["required"] = problem["required"] }
            guard var example = problem["example"]?.objectValue else { continue }
            for (name, value) in [
                "type": .string(type.path), "title": .string(type.title), "status": JSONValue(status),
                "code": .string(type.code), "requestID": "7M2V9QK4T1XE",
            ] as JSONObject { example[name] = value }
            self.examples[type.code] = ["value": .object(example)]
            examples[type.code] = Self.reference("examples", type.code)
        }
        var properties: JSONObject = [
            "status": ["const": JSONValue(status)],
            "code": ["enum": .array(types.map { .string($0.code) })],
        ]
        for (name, schemas) in members {
            properties[name] = schemas.count == 1 ? schemas[0] : ["anyOf": .array(schemas)]
        }
        schema["properties"] = .object(properties)
        var content: JSONObject = [
            "schema": Self.reference("schemas", "Problem"), "x-current": .object(schema),
        ]
        if !examples.isEmpty { content["examples"] = .object(examples) }
        return [
            "description": .string(Self.description(of: types)), "headers": .object(headers),
            "content": ["application/problem+json": .object(content)],
        ]
    }

    private static func description(of types: [ProblemType]) -> String {
        if types.count == 1 { return types[0].cause }
        return types.map { "`\($0.code)`: \($0.title)." }.joined(separator: " ")
    }

    // MARK: Parts

    private static func headers(_ names: KeyValuePairs<String, String>) -> JSONObject {
        var headers: JSONObject = [:]
        for (field, name) in names { headers[field] = reference("headers", name) }
        return headers
    }

    private static func reference(_ kind: String, _ name: String) -> JSONValue {
        ["$ref": .string("#/components/\(kind)/\(name)")]
    }

    private static func pascalCase(_ code: String) -> String {
        code.split(whereSeparator: { "_.".contains($0) }).map { $0.prefix(1).uppercased() + $0.dropFirst() }
            .joined()
    }
}
