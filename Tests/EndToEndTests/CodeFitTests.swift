import Formats
import Foundation
import Testing

/// The command estimates the size of App Clip Codes.
@Suite struct CodeFitTests {
    @Test func verdictsNameSizeAndAdvice() async throws {
        let binary = DoorstepBinary(databaseURL: "postgresql://nowhere.invalid/none")
        let fits = try await binary.run("code", "fit", "https://appclip.example.com?p=42")
        #expect(fits.status == 0, "\(fits.errors)")
        #expect(
            fits.output.hasPrefix("fits  https://appclip.example.com?p=42  (about ")
                && fits.output.contains(" of 128 bits, give or take "), "\(fits.output)")

        let long = "https://donuts.example.com/order?location=pike-place"
        let both = try await binary.run("code", "fit", long, "https://example.com/r/00042")
        #expect(both.status == 1)
        let lines = both.output.split(separator: "\n")
        #expect(lines.first?.hasPrefix("too_long  \(long)") == true)
        #expect(
            lines.contains {
                $0.contains("saves about 33 bits: https://donuts.example.com/order?p=pike-place")
            })
        #expect(lines.contains("  warning: a code may drop leading zeros, so that it reads as another URL"))

        let json = try await binary.run(
            "code", "fit", "--format", "json", "--host-bits", "60", "https://example.com?p=42",
            "https://example.com/~a")
        #expect(json.status == 1)
        let rows = try #require(try json.json().arrayValue).compactMap(\.objectValue)
        #expect(rows.map { $0["fit"] } == ["fits", "refused"])
        #expect(rows.map { $0["upperBound"] } == [71, .null])
        #expect(rows[1]["refusals"] == ["character"] && rows[1]["bits"] == .null)
    }

    /// The generator is a script with a capacity of 128 bits. The host takes 40 of them.
    @Test func hostIsMeasuredByRunsOfGenerator() async throws {
        let binary = DoorstepBinary(databaseURL: "postgresql://nowhere.invalid/none")
        let folder = try TemporaryDirectory()
        let script = folder.path("generator")
        try Data(
            """
            #!/bin/sh
            echo run >> "\(folder.path("runs"))"
            test "$1 $2 $4 $5 $6" = "generate --url --index 1 --output" || exit 2
            "\(try DoorstepBinary.executable().path)" code fit --format json --host-bits 40 "$3" | grep -q '"fit": *"fits"' || exit 1
            echo svg > "$7"
            """.utf8
        ).write(to: URL(filePath: script))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script)
        let measured = try await binary.succeed(
            "code", "measure-host", "shop.example.com", "--generator", script, "--format", "json")
        #expect(try measured.json() == ["host": "shop.example.com", "hostBits": 40])
        let runs = try String(contentsOfFile: folder.path("runs"), encoding: .utf8)
        #expect(runs.split(separator: "\n").count <= 7)

        let refused = try await binary.run(
            "code", "measure-host", "shop.example.com", "--generator", "false")
        #expect(refused.status == 1 && refused.errors.contains("the generator accepted no URL"))
        let missing = try await binary.run(
            "code", "measure-host", "shop.example.com", "--generator", "/nowhere/generator")
        #expect(missing.status == 1 && missing.errors.contains("the host was not measured"))
    }
}
