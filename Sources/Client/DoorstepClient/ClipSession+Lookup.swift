public import Foundation

extension ClipSession {
    /// Where an invocation URL leads: what was kept of it first, if anything was, and then what the server says.
    ///
    /// The first screen needs no network where the place is known: it shows the first value and is told of a change by the second,
    /// which comes only when there is one. It ends with ``ClipError`` where the server refuses or is not reached, also behind a
    /// kept value; what the server does not know any more is forgotten.
    public nonisolated func lookups(of url: URL) -> AsyncThrowingStream<ClipLookup, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    let kept = await keptLookup(of: url)
                    if let kept { continuation.yield(kept) }
                    let current = try await lookUp(url)
                    if current != kept { continuation.yield(current) }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// What was kept of an invocation URL; nil when nothing was.
    public func keptLookup(of url: URL) -> ClipLookup? {
        keptLookups().first { $0.url == url.absoluteString }?.lookup
    }

    /// Asks the server where an invocation URL leads, and keeps the answer.
    /// - Throws: ``ClipError``; `refused` with `does_not_match`, `no_identifier` or `unknown_identifier` where it leads nowhere.
    public func lookUp(_ url: URL) async throws(ClipError) -> ClipLookup {
        let text = url.absoluteString
        guard text.utf8.count <= Self.maximumURLLength,
            let encoded = text.addingPercentEncoding(withAllowedCharacters: Self.unreserved)
        else { throw .invalidURL }
        let kept = keptLookups().first { $0.url == text }
        var call = Call(
            method: "GET", target: "/v1/lookup?url=\(encoded)", isRepeatable: true,
            budget: configuration.interactive)
        call.fields["If-None-Match"] = kept?.tag
        do throws(ClipError) {
            let response = try await perform(call)
            if response.status == 304, let kept { return kept.lookup }
            let lookup = try Self.read(ClipLookup.self, from: response.body)
            keep(KeptLookup(url: text, tag: response.fields["etag"], lookup: lookup), of: text)
            return lookup
        } catch .refused(let problem) where problem.status == 404 {
            keep(nil, of: text)
            throw .refused(problem)
        }
    }

    /// The places of the App Clip that a URL launches, the nearest first: to choose from after a launch by a generic URL.
    /// - Parameters:
    ///   - within: In metres, at most 50,000; the server's own where it is nil.
    ///   - limit: At most 50; the server's own where it is nil.
    public func nearby(
        _ url: URL, coordinate: ClipLocation.Coordinate, within: Double? = nil, limit: Int? = nil
    ) async throws(ClipError) -> [NearbyLocation] {
        struct Request: Encodable {
            var url: String
            var coordinate: ClipLocation.Coordinate
            var within: Double?
            var limit: Int?
        }
        struct Response: Decodable { var data: [NearbyLocation] }
        // How good the fix is does not matter here, and is not asked for.
        let spot = ClipLocation.Coordinate(latitude: coordinate.latitude, longitude: coordinate.longitude)
        let response = try await perform(
            Call(
                method: "POST", target: "/v1/nearby",
                body: Self.json(
                    Request(url: url.absoluteString, coordinate: spot, within: within, limit: limit)),
                isRepeatable: true, budget: configuration.interactive))
        return try Self.read(Response.self, from: response.body).data
    }

    // MARK: What is kept

    private struct KeptLookup: Codable {
        var url: String
        var tag: String?
        var lookup: ClipLookup
    }

    /// As a server takes them.
    private static let maximumURLLength = 2_048
    /// How many answers are kept, the latest first. [ours]
    private static let maximumKept = 16
    /// RFC 3986 §2.3, in ASCII.
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    /// A container that cannot be read has nothing: the server will say.
    private func keptLookups() -> [KeptLookup] {
        guard let data = try? container.read(.lookups) else { return [] }
        return (try? JSONDecoder().decode([KeptLookup].self, from: data)) ?? []
    }

    private func keep(_ lookup: KeptLookup?, of url: String) {
        var all = keptLookups().filter { $0.url != url }
        if let lookup { all.insert(lookup, at: 0) }
        if let data = Self.json(Array(all.prefix(Self.maximumKept))) {
            try? container.write(data, to: .lookups)
        }
    }
}
