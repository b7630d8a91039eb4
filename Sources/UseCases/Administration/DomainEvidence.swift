/// The evidence for a domain: the results of looking for the record and the file.
public enum DomainEvidence: Sendable, Hashable {
    case found(ProofMethod)
    case missing(dns: Lack, file: Lack)

    /// Why a proof was not found.
    public enum Lack: Error, Sendable, Hashable {
        /// A response arrived, without the proof.
        case absent(String)
        /// No response arrived, so the proof may still exist.
        case unanswered(String)

        public var reason: String {
            switch self {
            case .absent(let reason), .unanswered(let reason): reason
            }
        }

        var isAbsent: Bool {
            if case .absent = self { true } else { false }
        }
    }

    /// Whether the proof by a method is known to be missing. If the host did not respond, this is unknown.
    func isAbsent(_ method: ProofMethod) -> Bool {
        switch (self, method) {
        case (.found, _): false
        case (.missing(let dns, _), .dns): dns.isAbsent
        case (.missing(_, let file), .file): file.isAbsent
        }
    }
}

/// Asks the DNS for TXT records.
public protocol TextRecordResolver: Sendable {
    /// The texts of a name's TXT records; none if the name or the records do not exist.
    func textRecords(of name: String) async throws(NoResponse) -> [String]
}

/// Fetches pages from web servers.
public protocol PageFetcher: Sendable {
    /// The response to a GET, with any status; redirects are not followed.
    /// - Parameter limit: how many bytes of the body to take, at most.
    func fetch(_ url: String, limit: Int) async throws(NoResponse) -> Page
}

/// A web server's response.
public struct Page: Sendable, Hashable {
    public var status: Int
    public var contentType: String?
    /// Where a redirect leads.
    public var location: String?
    public var body: [UInt8]
    /// Whether there was more of the body.
    public var isCutOff: Bool
    /// The coding of the body, such as `gzip`, if the site used one although the request named none.
    public var contentCoding: String?

    public init(
        status: Int, contentType: String? = nil, location: String? = nil, body: [UInt8] = [],
        isCutOff: Bool = false, contentCoding: String? = nil
    ) {
        self.contentCoding = contentCoding
        self.status = status
        self.contentType = contentType
        self.location = location
        self.body = body
        self.isCutOff = isCutOff
    }
}

/// No response, no response in time, or an invalid response.
public struct NoResponse: Error, Sendable, Hashable, CustomStringConvertible {
    public let reason: String

    public init(_ reason: String) {
        self.reason = reason
    }

    public var description: String { reason }
}

extension DomainRecord {
    /// Looks for a proof: in the DNS, then in the file. [ours]
    func evidence(_ resolver: some TextRecordResolver, _ fetcher: some PageFetcher) async -> DomainEvidence {
        let dns: DomainEvidence.Lack
        do throws(DomainEvidence.Lack) {
            try await findRecord(resolver)
            return .found(.dns)
        } catch {
            dns = error
        }
        do throws(DomainEvidence.Lack) {
            try await findFile(fetcher)
            return .found(.file)
        } catch {
            return .missing(dns: dns, file: error)
        }
    }

    private func findRecord(_ resolver: some TextRecordResolver) async throws(DomainEvidence.Lack) {
        let records: [String]
        do throws(NoResponse) {
            records = try await resolver.textRecords(of: recordName)
        } catch {
            throw .unanswered("TXT \(recordName): \(error)")
        }
        guard !records.isEmpty else { throw .absent("TXT record \(recordName) not found") }
        guard records.contains(recordValue) else {
            throw .absent("TXT record \(recordName) has another value")
        }
    }

    private func findFile(_ fetcher: some PageFetcher) async throws(DomainEvidence.Lack) {
        let page: Page
        do throws(NoResponse) {
            page = try await fetcher.fetch(fileURL, limit: 1_024)
        } catch {
            throw .unanswered("\(fileURL): \(error)")
        }
        // An overloaded server does not show whether it has the proof.
        guard page.status < 500, page.status != 429 else {
            throw .unanswered("\(fileURL) has status \(page.status)")
        }
        guard page.status == 200 else { throw .absent("\(fileURL) has status \(page.status)") }
        let text = String(decoding: page.body, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard !page.isCutOff, text.count == 1, text[0] == challenge else {
            throw .absent("\(fileURL) has another content")
        }
    }
}
