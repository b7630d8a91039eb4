import HTTPTypes
import Hummingbird
import JSON
import NIOCore

extension Request {
    /// The largest body that is read, 64 KiB: sixteen times the largest payload APNs takes.
    static let maximumBodyLength = 65_536

    /// The body as one JSON object.
    /// - Throws: A problem: `unsupported_media_type`, `body_too_large`, `request_timeout` or `invalid_json`.
    func readJSONObject(within limit: Duration) async throws -> JSONObject {
        guard Self.isJSON(headers[.contentType]) else {
            throw Problem(
                .unsupportedMediaType, "unsupported_media_type",
                "send the body as 'Content-Type: application/json'")
        }
        let bytes = try await readBody(within: limit)
        do {
            let body = try JSONValue(parsing: bytes.readableBytesView)
            guard case .object(let object) = body else {
                throw Problem(.badRequest, "invalid_json", "the body must be a JSON object")
            }
            return object
        } catch let error as JSONError {
            throw Problem(.badRequest, "invalid_json", "\(error)", members: ["reason": .string(error.code)])
        }
    }

    private func readBody(within limit: Duration) async throws -> ByteBuffer {
        if let length = headers[.contentLength].flatMap({ Int($0) }), length > Self.maximumBodyLength {
            throw Problem.bodyTooLarge
        }
        return try await withThrowingTaskGroup(of: ByteBuffer?.self) { group in
            group.addTask { try await self.collectBody() }
            group.addTask {
                try await Task.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let bytes = first else {
                throw Problem(.requestTimeout, "request_timeout", "the body did not arrive in time")
            }
            return bytes
        }
    }

    private func collectBody() async throws -> ByteBuffer {
        var collected = ByteBuffer()
        for try await part in body {
            guard collected.readableBytes + part.readableBytes <= Self.maximumBodyLength else {
                throw Problem.bodyTooLarge
            }
            collected.writeImmutableBuffer(part)
        }
        return collected
    }

    /// `application/json`, with no charset or with UTF-8: RFC 8259 §8.1 knows no other encoding.
    private static func isJSON(_ contentType: String?) -> Bool {
        guard let parts = contentType?.lowercased().split(separator: ";").map({ $0.trimmed }),
            parts.first == "application/json"
        else { return false }
        return parts.dropFirst().allSatisfy { $0 == "charset=utf-8" || $0 == "charset=\"utf-8\"" }
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        drop { $0 == " " || $0 == "\t" }.reversedDrop { $0 == " " || $0 == "\t" }
    }

    private func reversedDrop(while isDropped: (Character) -> Bool) -> Substring {
        self[..<(lastIndex { !isDropped($0) }.map(index(after:)) ?? startIndex)]
    }
}

extension Problem {
    static let bodyTooLarge = Problem(
        .contentTooLarge, "body_too_large", "a body is at most \(Request.maximumBodyLength) bytes")

    /// A field that is missing, unknown or of the wrong kind.
    init(_ error: JSONFieldError) {
        self = .field(error.path, code: error.code, "\(error)")
    }
}
