import Administration
import Codes
import Foundation
import Invocation
import Lookups

/// The codes to make, and the errors of some of them.
struct CodeList: Sendable {
    enum Kind: String {
        case appClip = "App Clip Codes"
        case qr = "QR codes"
    }

    private struct Entry {
        /// The number of the row, from 1.
        let number: Int
        var row: Row
    }

    /// The source of one code.
    struct Row {
        let names: PrintMappingFile.Row
        /// Nil if the code has the colors of the whole list.
        var colors: GeneratorBatchFile.Colors?
        /// The text below a printed code, such as the location's name.
        let label: String?
    }

    private var entries: [Entry] = []
    /// The errors of refused rows, by number.
    private var reasons: [Int: String] = [:]
    private var count = 0
    /// Finds where a URL leads, without checking signatures.
    private let table: TenantTable
    private let kind: Kind
    private let scope: CodeScope

    init(_ table: TenantTable, _ kind: Kind, _ scope: CodeScope) {
        self.table = table
        self.kind = kind
        self.scope = scope
    }

    /// Adds an experience's own URL if it is in the scope.
    ///
    /// An App Clip Code leads to an advanced experience, or to the short form of a demo link; a QR code leads to any
    /// experience. [Apple]
    mutating func append(_ experience: Experience) {
        guard scope.contains(experience) else { return }
        let text = experience.url.canonical
        let isShortDemoLink =
            experience.kind == .demo && (try? InvocationURL(text))?.isShortDemoLink == true
        guard experience.kind == .advanced || isShortDemoLink || kind == .qr else { return }
        append(named: String(text.dropFirst("https://".count)), label: nil) { () throws(InvocationURLError) in
            try AppClipCodeURL(text)
        }
    }

    /// Adds a location's URL. The URL must lead to the location, because a printed code cannot be changed.
    /// - Parameters:
    ///   - name: The location's name.
    ///   - hostBits: The measured size of the template's host; nil if it was not measured.
    ///   - colors: The colors of the location's code; empty for the colors of the whole list.
    mutating func append(
        _ identifier: LocationIdentifier, name: String, by template: CodeTemplate, hostBits: Int? = nil,
        colors: String = ""
    ) {
        append(named: identifier.text, label: name) { () throws(InvocationURLError) in
            try template.url(for: identifier, hostBits: hostBits)
        }
        guard let last = entries.last, last.number == count,
            let url = try? InvocationURL(last.row.names.url.text)
        else { return }
        if !colors.isEmpty {
            do throws(CodeFileError) {
                entries[entries.count - 1].row.colors = try GeneratorBatchFile.Colors(colors)
            } catch {
                reasons[count] = "\(String(colors.prefix(80)).debugDescription): \(error)"
            }
        }
        let lookup = table.lookUp(url)
        if let refusal = scope.refusal(of: url, in: table) {
            reasons[count] = "\(refusal): \(url.canonical)"
        } else if let reason = lookup.reason {
            reasons[count] = "the URL leads to no location (\(reason)): \(url.canonical)"
        } else if lookup.location?.identifier != identifier {
            reasons[count] = "the URL leads to another location: \(url.canonical)"
        }
    }

    private mutating func append(
        named name: String, label: String?, _ url: () throws(InvocationURLError) -> AppClipCodeURL
    ) {
        count += 1
        do {
            let url = try url()
            if kind == .qr { _ = try QRSymbol(url.text) }
            let row = Row(names: .init(named: name, url: url), label: label)
            entries.append(Entry(number: count, row: row))
        } catch {
            reasons[count] = "\(error)"
        }
    }

    /// The rows. If some are refused, prints their errors on standard error: the first hundred, then a count.
    ///
    /// - Parameters:
    ///   - isStrict: Whether URLs that are too long by their estimated size are refused.
    ///   - problemsOfRows: The errors of rows that the file cannot contain.
    func checkedRows(
        isStrict: Bool, _ problemsOfRows: ([PrintMappingFile.Row]) -> [CodeFileError]
    ) throws -> [Row] {
        guard count > 0 else { throw CommandError.nothingToExport }
        let rows = entries.map(\.row)
        var problems = ImportProblems()
        for (number, reason) in reasons { problems.add(line: number, reason) }
        for problem in problemsOfRows(rows.map(\.names)) {
            guard let entry = problem.row.map({ entries[$0 - 1] }), reasons[entry.number] == nil else {
                continue
            }
            let url = entry.row.names.url
            let refusals = url.refusals.map(\.rawValue).joined(separator: ", ")
            problems.add(
                line: entry.number,
                problem.reason + (refusals.isEmpty ? "" : " (\(refusals))") + ": \(url.text)")
        }
        if isStrict {
            for entry in entries where entry.row.names.url.fit == .tooLong && reasons[entry.number] == nil {
                problems.add(line: entry.number, entry.row.names.url.tooLongText)
            }
        }
        guard problems.isEmpty else {
            problems.report { "row \($0.line): \($0.reason)" }
            throw CommandError.codesRefused(problems.count, kind)
        }
        return rows
    }

    /// Warns on standard error of URLs that are too long by their estimated size; names the first hundred. Counts URLs whose fit is
    /// unknown, and URLs with leading zeros.
    func warnOfSizes(of rows: [Row]) {
        let urls = rows.map(\.names.url)
        var problems = ImportProblems()
        for (url, number) in zip(urls, 1...) where url.fit == .tooLong {
            problems.add(line: number, url.tooLongText)
        }
        problems.report { "warning: row \($0.line): \($0.reason)" }
        warn(urls.count { $0.fit == .unknown }, "may be too long: only Apple's generator knows")
        warn(
            urls.count(where: \.hasLeadingZeros),
            "with leading zeros, which a code may drop, so that it reads as another URL")
    }

    private func warn(_ count: Int, _ text: String) {
        guard count > 0 else { return }
        FileHandle.standardError.write(
            Data("warning: \(count) \(count == 1 ? "URL" : "URLs") \(text)\n".utf8))
    }
}
