import HTTPServer
import NIOCore

extension ServerRequestBody {
    /// The whole body, decoded.
    /// - Parameters:
    ///   - coding: `Content-Encoding`; nil if there is none.
    ///   - limit: The longest time that the body may take to arrive.
    /// - Throws: A problem: `body_too_large`, `request_timeout`, `malformed_request` or `unsupported_content_coding`.
    func whole(coding: String?, within limit: Duration) async throws -> ByteBuffer {
        try await withThrowingTaskGroup(of: ByteBuffer?.self) { group in
            group.addTask { try await self.collect(coding) }
            group.addTask {
                try await Task.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let bytes = first else { throw Problem.bodyTooSlow }
            return bytes
        }
    }

    private func collect(_ coding: String?) async throws -> ByteBuffer {
        let decoder = try ContentCoding(coding).decoder()
        var collected = ByteBuffer()
        var isEmpty = true
        var received = 0
        func add(_ part: ByteBuffer) throws(Problem) {
            guard collected.readableBytes + part.readableBytes <= Endpoint.maximumBodyLength else {
                throw .bodyTooLarge(.json)
            }
            collected.writeImmutableBuffer(part)
        }
        do {
            for try await part in self {
                isEmpty = isEmpty && part.readableBytes == 0
                received += part.readableBytes
                // Gzip makes an incompressible body slightly longer.
                guard received <= Endpoint.maximumBodyLength + 4_096 else {
                    throw Problem.bodyTooLarge(.json)
                }
                guard let decoder else {
                    try add(part)
                    continue
                }
                decoder.add(Array(part.readableBytesView))
                while let piece = try decoder.next() { try add(ByteBuffer(bytes: piece)) }
            }
        } catch let problem as Problem {
            throw problem
        } catch {
            throw Problem.bodyCutOff
        }
        if !isEmpty { try decoder?.finish() }
        return collected
    }
}
