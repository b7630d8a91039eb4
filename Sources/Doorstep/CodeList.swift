import Administration
import Foundation
import Invocation

/// The codes to be made, and what is wrong with some of them.
struct CodeList: Sendable {
    private struct Entry {
        /// From 1.
        let number: Int
        let row: PrintMappingFile.Row
    }

    private var entries: [Entry] = []
    /// Of rows that are refused, by number.
    private var reasons: [Int: String] = [:]
    private var count = 0
    private let resolver: DirectoryResolver

    init(_ resolver: DirectoryResolver) {
        self.resolver = resolver
    }

    /// Adds an experience's own URL; Apple makes the links of others than advanced ones.
    mutating func append(_ experience: Experience) {
        guard experience.kind == .advanced else { return }
        let text = experience.url.canonical
        append(named: String(text.dropFirst("https://".count))) { () throws(InvocationURLError) in
            try AppClipCodeURL(text)
        }
    }

    /// Adds a location's URL, which must lead to it: a code is printed once.
    mutating func append(_ identifier: LocationIdentifier, by template: CodeTemplate) {
        append(named: identifier.text) { () throws(InvocationURLError) in
            try template.url(for: identifier)
        }
        guard let last = entries.last, last.number == count, let url = try? InvocationURL(last.row.url.text)
        else { return }
        switch resolver.resolve(url) {
        case .location(identifier): break
        case .location: reasons[count] = "the URL leads to another location: \(url.canonical)"
        case .nothing(let reason):
            reasons[count] = "the URL leads to no location (\(reason.rawValue)): \(url.canonical)"
        }
    }

    private mutating func append(
        named name: String, _ url: () throws(InvocationURLError) -> AppClipCodeURL
    ) {
        count += 1
        // Beyond that there will be no file; only how many there are is of interest.
        guard count <= PrintMappingFile.maximumRows else { return }
        do throws(InvocationURLError) {
            entries.append(Entry(number: count, row: PrintMappingFile.Row(named: name, url: try url())))
        } catch {
            reasons[count] = "\(error)"
        }
    }

    /// The rows; or, when some are refused, a word about each on standard error: the first hundred, then a count.
    func checkedRows() throws -> [PrintMappingFile.Row] {
        guard count > 0 else { throw CommandError.nothingToExport }
        guard count <= PrintMappingFile.maximumRows else { throw CodeFileError.tooManyRows(count) }
        let rows = entries.map(\.row)
        var problems = ImportProblems()
        for (number, reason) in reasons { problems.add(line: number, reason) }
        for problem in PrintMappingFile.problems(of: rows) {
            guard let entry = problem.row.map({ entries[$0 - 1] }), reasons[entry.number] == nil else {
                continue
            }
            let refusals = entry.row.url.refusals.map(\.rawValue).joined(separator: ", ")
            problems.add(
                line: entry.number,
                problem.reason + (refusals.isEmpty ? "" : " (\(refusals))") + ": \(entry.row.url.text)")
        }
        guard problems.isEmpty else {
            problems.report { "row \($0.line): \($0.reason)" }
            throw CommandError.codesRefused(problems.count)
        }
        return rows
    }
}
