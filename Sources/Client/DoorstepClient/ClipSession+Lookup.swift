public import Foundation

extension ClipSession {
    /// Looks up an invocation URL: yields the stored result first, if there is one, and then the server's
    /// response.
    ///
    /// The first screen needs no network if the location is stored: it shows the first value. A second
    /// value comes only if the server's response differs. The stream ends with ``ClipError`` if the server
    /// refuses or cannot be reached, even after a stored value. A result that the server no longer has is
    /// deleted.
    ///
    /// - Parameter source: How the clip was launched, which only the server's statistics use.
    public nonisolated func lookups(
        of url: URL, source: LaunchSource = .unknown
    ) -> AsyncThrowingStream<ClipLookup, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    let kept = await keptLookup(of: url)
                    if let kept { continuation.yield(kept) }
                    let current = try await lookUp(url, source: source)
                    if current != kept { continuation.yield(current) }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// Returns the stored result for an invocation URL; nil if there is none.
    public func keptLookup(of url: URL) -> ClipLookup? {
        keptLookups().first { $0.url == url.absoluteString }?.lookup
    }

    /// Looks up an invocation URL at the server, and stores the result.
    ///
    /// - Parameter source: How the clip was launched, which only the server's statistics use.
    /// - Throws: ``ClipError``; `refused` with `does_not_match`, `no_identifier` or `unknown_identifier` if
    ///   the URL leads nowhere.
    public func lookUp(
        _ url: URL, source: LaunchSource = .unknown
    ) async throws(ClipError) -> ClipLookup {
        let text = url.absoluteString
        guard text.utf8.count <= Self.maximumURLLength,
            let encoded = text.addingPercentEncoding(withAllowedCharacters: Self.unreserved)
        else { throw .invalidURL }
        let kept = keptLookups().first { $0.url == text }
        var call = Call(
            method: "GET",
            target: "/v1/lookup?url=\(encoded)"
                + (source == .unknown ? "" : "&source=\(source.rawValue)"), isRepeatable: true,
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

    /// Returns the locations of the App Clip that a URL launches, the nearest first. Use it to offer a
    /// choice after a launch by a generic URL.
    ///
    /// - Parameters:
    ///   - within: The maximum distance in metres, at most 50,000; nil for the server's default.
    ///   - limit: The maximum number of locations, at most 50; nil for the server's default.
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
        // The accuracy of the fix has no effect here, so the request does not contain it.
        let spot = ClipLocation.Coordinate(latitude: coordinate.latitude, longitude: coordinate.longitude)
        let response = try await perform(
            Call(
                method: "POST", target: "/v1/nearby",
                body: Self.json(
                    Request(url: url.absoluteString, coordinate: spot, within: within, limit: limit)),
                isRepeatable: true, budget: configuration.interactive))
        return try Self.read(Response.self, from: response.body).data
    }

    // MARK: Stored results

    private struct KeptLookup: Codable {
        var url: String
        var tag: String?
        var lookup: ClipLookup
    }

    /// The servers' limit.
    private static let maximumURLLength = 2_048
    /// The number of results that are stored, the latest first. [ours]
    private static let maximumKept = 16
    /// RFC 3986 §2.3, in ASCII.
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    /// Returns nothing if the container cannot be read: the server's response follows.
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
