import HTTPTypes
import Hummingbird
import NIOCore

extension Request {
    /// The whole body.
    /// - Throws: A problem: `body_too_large` or `request_timeout`.
    func readBody(within limit: Duration) async throws -> ByteBuffer {
        try await withThrowingTaskGroup(of: ByteBuffer?.self) { group in
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
            guard collected.readableBytes + part.readableBytes <= AnswerRoute.maximumBodyLength else {
                throw Problem.bodyTooLarge
            }
            collected.writeImmutableBuffer(part)
        }
        return collected
    }
}
