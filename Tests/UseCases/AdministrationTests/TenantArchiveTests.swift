import Formats
import Foundation
import Invocation
import Synchronization
import Tenancy
import Testing

@testable import Administration

@Suite struct TenantArchiveTests {
    /// Reads a text in pieces of a given size.
    private static func reader(_ text: String, chunk: Int = .max) -> TenantArchiveReader {
        let rest = Mutex(Array(text.utf8)[...])
        return TenantArchiveReader {
            rest.withLock { rest in
                let piece = rest.prefix(chunk)
                rest = rest.dropFirst(piece.count)
                return piece.isEmpty ? nil : Array(piece)
            }
        }
    }

    private static func archive() async throws -> String {
        let written = Written()
        let count = try await MemoryCatalogue.sample().exportTenant(to: written.append)
        #expect(count == 23)
        return written.text
    }

    /// All problems of an archive, by line. An error that ends the reading is one of them.
    private static func problems(_ text: String) throws -> [String] {
        var reader = reader(text)
        do {
            _ = try reader.readTenant()
            try reader.readRest()
        } catch let error as AdministrationError {
            return ["\(error)"]
        }
        return reader.problems.first.map { "line \($0.line): \($0.reason)" }
    }

    @Test(arguments: [1, 7, 4_096, Int.max]) func writtenArchiveIsReadBack(chunk: Int) async throws {
        let catalogue = try MemoryCatalogue.sample()
        let written = Written()
        _ = try await catalogue.exportTenant(to: written.append)
        var reader = Self.reader(written.text, chunk: chunk)
        let tenant = try reader.readTenant()
        #expect(tenant.id == catalogue.tenant.id && tenant.slug == catalogue.tenant.slug)
        #expect(tenant.name == catalogue.tenant.name && !tenant.isSuspended)
        var read = try MemoryCatalogue()
        while let (clip, _) = try reader.next(\.clip) { read.clipList.append(clip) }
        #expect(try reader.next(\.domain)?.value.name.text == "example.com")
        while let (location, line) = try reader.next({ $0.item(LocationRecord.self) }) {
            #expect(line == read.locations.count + 5)
            read.locations.append(location)
        }
        while let (experience, _) = try reader.next({ $0.item(ExperienceRecord.self) }) {
            read.experiences.append(experience)
        }
        while let (code, _) = try reader.next({ $0.item(ShortCode.self) }) { read.codes.append(code) }
        try reader.readRest()
        #expect(reader.problems.isEmpty)
        #expect(read.clipList == catalogue.clipList && read.locations == catalogue.locations)
        #expect(read.experiences == catalogue.experiences && read.codes == catalogue.codes)
    }

    @Test func archiveLinesMatchDocumentation() async throws {
        let lines = try await Self.archive().split(separator: "\n")
        #expect(lines[0] == #"{"format":"doorstep-tenant","version":2}"#)
        #expect(
            lines[2]
                == #"{"appIDPrefix":"ABCDE12345","bundleID":"com.example.MyApp.Clip","multiBusiness":true,"#
                + #""parentBundleID":"com.example.MyApp","teamID":"ABCDE12345","type":"clip"}"#
        )
        // The archive contains the claim, but not its proof.
        #expect(lines[3] == #"{"host":"example.com","type":"domain"}"#)
        #expect(lines.last == #"{"records":23,"type":"end"}"#)
    }

    @Test func otherFormatOrVersionIsRejected() throws {
        for (text, reason) in [
            ("", "line 1: not the header of a tenant's archive"),
            ("{}\n", "line 1: not the header of a tenant's archive"),
            ("identifier,name\n", "line 1: not the header of a tenant's archive"),
            (#"{"format":"doorstep-tenant"}"#, "line 1: not the header of a tenant's archive"),
            (
                #"{"format":"doorstep-tenant","version":1}"#,
                "the archive has version 1; this Doorstep reads version 2"
            ),
            (#"{"format":"doorstep-tenant","version":2}"#, "line 1: the archive is incomplete"),
        ] {
            #expect(try Self.problems(text) == [reason])
        }
    }

    /// The archive is cut at every position, including the ends of lines.
    @Test func truncatedArchiveIsRejected() async throws {
        let lines = try await Self.archive().split(separator: "\n", omittingEmptySubsequences: true)
        for count in 2..<lines.count {
            let problems = try Self.problems(lines.prefix(count).joined(separator: "\n") + "\n")
            #expect(problems == ["line \(count + 1): the archive is incomplete"])
        }
    }

    @Test func invalidLineIsNamed() async throws {
        let lines = try await Self.archive().split(separator: "\n").map(String.init)
        func changed(_ line: Int, _ from: String, _ to: String) throws -> [String] {
            var lines = lines
            #expect(lines[line - 1].contains(from), "\(from)")
            lines[line - 1] = lines[line - 1].replacing(from, with: to)
            return try Self.problems(lines.joined(separator: "\n"))
        }
        for (line, from, to, reason) in [
            (2, "acme", "Not A Slug", "slug: a slug is 1 to 63"),
            (2, "\"suspended\":false", "\"suspended\":null", "suspended: must be true or false"),
            (2, "\"keyLimit\":\"1:2\"", "\"keyLimit\":\"1:0\"", "keyLimit: not a rate and a burst"),
            (3, "ABCDE12345", "short", "teamID: a team ID is ten"),
            (3, "MyApp\"", "Other\"", "parentBundleID: the app's bundle ID must be"),
            (
                3, "\"appIDPrefix\":\"ABCDE12345\"", "\"appIDPrefix\":\"x\"",
                "appIDPrefix: an App ID prefix is ten"
            ),
            (3, ",\"type\":\"clip\"", "", "type: is missing"),
            (3, "\"clip\"", "\"other\"", "type: must be one of"),
            (3, "{", "{\"more\":1,", "more: is unknown"),
            (3, "{", "", "The JSON text"),
            (4, "example.com", "Example.com", "host: not a domain name"),
            (4, "example.com", "example.com/a", "host: not a domain name"),
            (4, "example.com", "10.0.0.1", "host: not a domain name"),
            (4, "\"host\"", "\"content\":1,\"host\"", "content: must be an object"),
            (4, "\"host\"", "\"content\":{\"appclips\":1},\"host\"", "content: appclips is written by"),
            (5, "\"radius\":100", "\"radius\":501", "radius: "),
            (5, "\"latitude\":", "\"latitude\":91,\"x\":", "latitude: "),
            (5, "\"note\":", "\"name\":", "metadata: name is the name of a field; set the field instead"),
            (5, "\"note\":\"", "\"list\":[],\"note\":\"", "metadata: each value must be a text"),
            (5, "\"note\":", "\"details.x\":", "metadata: a name must not be empty, begin with \"details.\""),
            (6, "\"phone\":\"", "\"list\":[],\"phone\":\"", "details: details are an object of texts"),
            (6, "\"phone\":\"", "\"x\":\"\",\"phone\":\"", "details: details are an object of texts"),
            (20, "https:", "http:", "url: "),
            (20, "\"location\":\"a\"", "\"location\":\"a\",\"identifierRule\":\"path:1\"", "location: "),
            (20, "A, b\"", "\(String(repeating: "x", count: 31))\"", "title: "),
            (21, "query:l", "query:", "identifierRule: "),
            (24, "x,\\\"", "", "code: "),
        ] {
            let problems = try changed(line, from, to)
            #expect(
                problems.count == 1 && problems[0].hasPrefix("line \(line): \(reason)"),
                "\(from) as \(to): \(problems)")
        }
    }

    @Test func recordOrderDuplicatesAndCountsAreChecked() async throws {
        let lines = try await Self.archive().split(separator: "\n").map(String.init)
        var swapped = lines
        swapped.swapAt(4, 20)
        #expect(
            try Self.problems(swapped.joined(separator: "\n")).first
                == "line 6: type: location comes after experience")
        var twice = lines
        twice.insert(lines[2], at: 3)
        twice.insert(lines[3], at: 5)
        twice.insert(lines[1], at: 6)
        twice[twice.count - 1] = #"{"records":26,"type":"end"}"#
        #expect(
            try Self.problems(twice.joined(separator: "\n")) == [
                "line 4: bundleID: an earlier line has it already",
                "line 6: host: an earlier line has it already", "line 7: type: tenant comes after domain",
            ])
        #expect(
            try Self.problems((lines.prefix(10) + lines.suffix(1)).joined(separator: "\n")) == [
                "line 11: records: must be the number of lines, 9; got 23"
            ])
        #expect(
            try Self.problems((lines + [lines[4]]).joined(separator: "\n")) == [
                "line 26: comes after the end"
            ])
    }
}
