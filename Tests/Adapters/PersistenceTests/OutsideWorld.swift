import Administration
import Synchronization

/// The DNS and the web, with responses that a test sets.
final class OutsideWorld: TextRecordResolver, PageFetcher {
    private struct State {
        var records: [String: Result<[String], NoResponse>] = [:]
        var pages: [String: Result<Page, NoResponse>] = [:]
    }

    private let state = Mutex(State())

    /// Publishes the record that proves a domain, or others in its place.
    func publish(_ record: DomainRecord, _ values: [String]? = nil) {
        state.withLock { $0.records[record.recordName] = .success(values ?? [record.recordValue]) }
    }

    func serve(_ record: DomainRecord, _ page: Page) {
        state.withLock { $0.pages[record.fileURL] = .success(page) }
    }

    func clear() { state.withLock { $0 = State() } }

    /// Makes the DNS and the web server of a domain stop responding.
    func fallSilent(_ record: DomainRecord) {
        state.withLock {
            $0.records[record.recordName] = .failure(NoResponse("silence"))
            $0.pages[record.fileURL] = .failure(NoResponse("silence"))
        }
    }

    func textRecords(of name: String) async throws(NoResponse) -> [String] {
        try state.withLock { $0.records[name] ?? .success([]) }.get()
    }

    func fetch(_ url: String, limit: Int) async throws(NoResponse) -> Page {
        try state.withLock { $0.pages[url] ?? .success(Page(status: 404)) }.get()
    }
}
