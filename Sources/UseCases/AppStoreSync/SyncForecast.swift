public import Cards

/// The cost of applying a plan, calculated before anything is sent.
public struct SyncForecast: Sendable, Hashable {
    /// To App Store Connect; parts of images go to another host and are presumably not counted against a key.
    public let requests: Int
    public let images: Int
    public let imageBytes: Int

    /// The most rows of a page. [Apple]
    public static let pageSize = 200
    /// An image is reserved, committed and polled once. [ours]
    public static let requestsPerImage = 3

    /// - Parameters:
    ///   - sizes: in bytes; an image that is not among them counts as nothing.
    ///   - uploaded: images that App Store Connect has and that need not be sent again.
    ///   - sharesImages: Whether one image serves many experiences; else each gets its own, sent or not. Not documented.
    ///   - listed: how many experiences App Store Connect has: all are listed before, and to verify after.
    public init(
        _ plan: SyncPlan, sizes: [ImageDigest: Int], uploaded: Set<ImageDigest> = [],
        sharesImages: Bool = true, listed: Int
    ) {
        var writes = 0
        var created = 0
        var needed: [ImageDigest] = []
        for row in plan.rows {
            switch row.step {
            case .create(let content):
                writes += 1
                created += 1
                content.card.image.map { needed.append($0) }
            case .update(_, let changes, let content), .adopt(_, let changes, let content):
                guard !changes.isEmpty else { continue }
                writes += 1
                guard changes.contains(where: { $0.path == "image" }) else { continue }
                content.card.image.map { needed.append($0) }
            case .remove:
                writes += 1
            case .blocked, .unmanaged, .inStep: continue
            }
        }
        if sharesImages { needed = Array(Set(needed).subtracting(uploaded)) }
        images = needed.count
        imageBytes = needed.reduce(0) { $0 + (sizes[$1] ?? 0) }
        requests =
            writes + images * Self.requestsPerImage + Self.pages(listed) + Self.pages(listed + created)
    }

    /// In millions of bytes.
    public var megabytes: Double { Double(imageBytes) / 1_000_000 }

    /// The hours at this number of requests per hour; nil if it is 0.
    public func hours(requestsPerHour budget: Int) -> Double? {
        budget > 0 ? Double(requests) / Double(budget) : nil
    }

    private static func pages(_ rows: Int) -> Int {
        max(1, (rows + pageSize - 1) / pageSize)
    }
}
