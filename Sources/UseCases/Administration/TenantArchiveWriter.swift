import Formats

extension CatalogueReader {
    /// Writes the tenant as an archive (``TenantArchive``). Returns the number of records.
    public func exportTenant(to sink: @escaping ([UInt8]) throws -> Void) async throws -> Int {
        var writer = TenantArchiveWriter(sink)
        try writer.append(
            .tenant(
                ArchivedTenant(
                    id: tenant.id, slug: tenant.slug, name: tenant.name, isTest: tenant.isTest,
                    isSuspended: tenant.suspendedAt != nil, limits: tenant.limits, quotas: tenant.ownQuotas,
                    corsOrigins: tenant.corsOrigins)))
        try await eachImage { image in
            if let file = image.file { try writer.append(.image(ArchivedImage(file: file))) }
        }
        for clip in try await clips() { try writer.append(.clip(clip)) }
        for domain in try await domains() {
            try writer.append(
                .domain(ArchivedDomain(name: domain.name, content: domain.content, pages: domain.pages)))
        }
        for kind in TenantArchive.collections { try await append(kind, to: &writer) }
        return try writer.finish()
    }

    private func append<Item: CollectionResource>(
        _: Item.Type, to writer: inout TenantArchiveWriter
    ) async throws {
        try await each(Item.self) { try writer.append(.item($0)) }
    }
}

/// Writes the lines of an archive.
struct TenantArchiveWriter {
    private let sink: ([UInt8]) throws -> Void
    private var buffer: [UInt8] = []
    private var count = 0

    private static let chunkLength = 1 << 16

    init(_ sink: @escaping ([UInt8]) throws -> Void) {
        self.sink = sink
        append(["format": .string(TenantArchive.format), "version": JSONValue(TenantArchive.version)])
    }

    mutating func append(_ record: ArchiveRecord) throws {
        append(record.json)
        count += 1
        if buffer.count >= Self.chunkLength { try handOver() }
    }

    /// Writes the last line. Returns the number of records.
    mutating func finish() throws -> Int {
        append(ArchiveRecord.end(count).json)
        try handOver()
        return count
    }

    private mutating func append(_ line: JSONObject) {
        buffer += JSONValue.object(line).serialized()
        buffer.append(UInt8(ascii: "\n"))
    }

    private mutating func handOver() throws {
        try sink(buffer)
        buffer.removeAll(keepingCapacity: true)
    }
}
