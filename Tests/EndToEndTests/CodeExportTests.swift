import Codes
import Foundation
import Testing

/// Lists for generating and printing App Clip Codes.
@Suite struct CodeExportTests {
    private static let tenant = ["--tenant", Installation.tenant]

    @Test func codesAreExportedByExperienceAndByLocation() async throws {
        try await Installation.lend { installation in
            let binary = installation.binary
            let printed = try await binary.run(["code", "export", "--format", "print"] + Self.tenant)
            #expect(printed.status == 0, "\(printed.errors)")
            #expect(
                printed.output == """
                    SVG File Name,URL\r
                    example.com_restaurants_restaurant%5Fa.svg,https://example.com/restaurants/restaurant_a\r
                    example.com_restaurants_restaurant%5Fb.svg,https://example.com/restaurants/restaurant_b\r\n
                    """)
            let template = ["--locations", "--template", "https://appclip.example.com/shop?p={identifier}"]
            let nowhere = try await binary.run(
                ["code", "export", "--format", "print"] + template + Self.tenant)
            #expect(nowhere.status == 1 && nowhere.output.isEmpty)
            #expect(
                nowhere.errors == """
                    row 1: the URL leads to no location (does_not_match): https://appclip.example.com/shop?p=restaurant_a
                    row 2: the URL leads to no location (does_not_match): https://appclip.example.com/shop?p=restaurant_b
                    Error: nothing was written: 2 rows cannot be App Clip Codes

                    """)
            try await binary.succeed(
                "experience", "add", "--tenant", Installation.tenant, "--clip", "com.example.MyApp.Clip",
                "--url",
                "https://appclip.example.com/shop", "--identifier-rule", "query:p")
            let batch = try await binary.run(
                ["code", "export", "--format", "generator", "--foreground", "0000ff", "--type", "nfc"]
                    + template
                    + Self.tenant)
            #expect(
                batch.output == """
                    SVG File Name,URL,Background Color,Foreground Color,Type,Logo\r
                    restaurant%5Fa.svg,https://appclip.example.com/shop?p=restaurant_a,FFFFFF,0000FF,nfc,badge\r
                    restaurant%5Fb.svg,https://appclip.example.com/shop?p=restaurant_b,FFFFFF,0000FF,nfc,badge\r\n
                    """, "\(batch.errors)")

            try await binary.succeed(
                "experience", "add", "--tenant", Installation.tenant, "--clip", "com.example.MyApp.Clip",
                "--url", "https://appclip.example.com/shop?p=restaurant_b", "--location", "restaurant_a")
            let other = try await binary.run(
                ["code", "export", "--format", "print"] + template + Self.tenant)
            #expect(
                other.errors.hasPrefix(
                    "row 2: the URL leads to another location: https://appclip.example.com/shop?p=restaurant_b\n"
                ), "\(other.errors)")

            // Rows that do not fit into a code, and a row whose file name would equal the name of another file.
            try await binary.succeed(
                "location", "import", "--tenant", Installation.tenant, "-",
                input:
                    "identifier,name,latitude,longitude,radius\nA,A,1,2,100\na,B,1,2,100\n\(String(repeating: "z", count: 128)),Z,1,2,100\n"
            )
            let odd = try await binary.run(
                ["code", "export", "--format", "print", "--locations", "--template"]
                    + ["https://appclip.example.com/shop?p={identifier}"] + Self.tenant)
            #expect(odd.status == 1)
            #expect(
                odd.errors.hasPrefix(
                    "row 2: an earlier row has the same file name: https://appclip.example.com/shop?p=a\n"))
            try await binary.succeed(
                "experience", "add", "--tenant", Installation.tenant, "--clip", "com.example.MyApp.Clip",
                "--url",
                "https://shop1.example/~a", "--location", "restaurant_a")
            let unfit = try await binary.run(["code", "export", "--format", "print"] + Self.tenant)
            #expect(unfit.status == 1)
            #expect(
                unfit.errors.contains(
                    "row 5: the URL cannot be in an App Clip Code (host, character): https://shop1.example/~a\n"
                ))
        }
    }

    @Test func codesAreExportedInColors() async throws {
        try await Installation.lend { installation in
            let binary = installation.binary
            try await binary.succeed(
                "location", "import", "--tenant", Installation.tenant, "-",
                input: """
                    identifier,name,latitude,longitude,radius,code colors
                    restaurant_a,Restaurant A,37.334722,-122.008889,100,12
                    restaurant_b,Restaurant B,48.858370,2.294481,250,ffffff/123456
                    restaurant_c,Restaurant C,48.9,2.3,250,
                    """)
            let template = ["--locations", "--template", "https://example.com/restaurants/{identifier}"]
            try await binary.succeed(
                "experience", "add", "--tenant", Installation.tenant, "--clip", "com.example.MyApp.Clip",
                "--url", "https://example.com/restaurants", "--identifier-rule", "path:1")
            let generator = ["code", "export", "--format", "generator"] + template + Self.tenant
            let colored = try await binary.run(
                generator + ["--color-column", "code colors", "--color-index", "4"])
            #expect(
                colored.output == """
                    SVG File Name,URL,Background Color,Foreground Color,Type,Logo\r
                    restaurant%5Fa.svg,https://example.com/restaurants/restaurant_a,007AFF,FFFFFF,cam,badge\r
                    restaurant%5Fb.svg,https://example.com/restaurants/restaurant_b,123456,FFFFFF,cam,badge\r
                    restaurant%5Fc.svg,https://example.com/restaurants/restaurant_c,FF3B30,FFFFFF,cam,badge\r\n
                    """, "\(colored.errors)")
            // The contrast of colors that are not Apple's own pair is unknown.
            #expect(
                colored.errors
                    == "The contrast of 1 code is unknown: only Apple's generator knows which colors are too close.\n"
            )
            let plain = try await binary.run(generator)
            #expect(plain.status == 0 && plain.errors.isEmpty)
            #expect(plain.output.contains(",FFFFFF,000000,cam,badge"))

            try await binary.succeed(
                "location", "import", "--tenant", Installation.tenant, "-",
                input: "identifier,name,latitude,longitude,radius,code colors\nrestaurant_b,B,1,2,250,18\n")
            let bad = try await binary.run(generator + ["--color-column", "code colors"])
            #expect(bad.status == 1 && bad.output.isEmpty)
            #expect(bad.errors.hasPrefix("row 2: \"18\": colors are a number from 0 to 17"), "\(bad.errors)")
            let unknown = try await binary.run(generator + ["--color-column", "nothing"])
            #expect(unknown.status == 1 && unknown.errors.contains("no location has such a column"))
            for arguments in [
                ["--color-index", "18"], ["--color-index", "1", "--foreground", "FF0000"],
                ["--format", "print", "--color-index", "1"],
            ] {
                #expect(try await binary.run(generator + arguments).status == 64, "\(arguments)")
            }
        }
    }

    /// App Store Connect accepts codes of one experience, which must match each URL. [Apple]
    @Test func appStoreConnectListIsForOneExperience() async throws {
        try await Installation.lend { installation in
            let binary = installation.binary
            let list = ["code", "export", "--format", "app-store-connect"] + Self.tenant
            let several = try await binary.run(list)
            #expect(several.status == 1 && several.output.isEmpty)
            #expect(
                several.errors == """
                    Error: --experience: App Store Connect makes the codes of one advanced experience; name one of 2: \
                    https://example.com/restaurants/restaurant_a, https://example.com/restaurants/restaurant_b

                    """)
            let one = ["--experience", "https://example.com/restaurants/restaurant_b"]
            #expect(
                try await binary.run(list + one).output == "https://example.com/restaurants/restaurant_b\r\n")
            for (option, value, reason) in [
                (
                    "--experience", "https://example.com/restaurants/restaurant_c",
                    "the tenant has no advanced experience https://example.com/restaurants/restaurant_c"
                ),
                ("--clip", "com.example.Other.Clip", "the tenant has no clip com.example.Other.Clip"),
            ] {
                let refused = try await binary.run(list + [option, value])
                #expect(refused.status == 1 && refused.errors == "Error: \(option): \(reason)\n")
            }

            // The other clip has one advanced experience, so the command needs no URL of it. The URL of restaurant_b matches
            // another experience.
            try await binary.succeed(
                "clip", "create", "--tenant", Installation.tenant, "--bundle-id", "com.example.Other.Clip",
                "--team-id", "ABCDE12345")
            try await binary.succeed(
                "experience", "add", "--tenant", Installation.tenant, "--clip", "com.example.Other.Clip",
                "--url", "https://example.com/shops", "--identifier-rule", "path:1")
            let other = ["--clip", "com.example.Other.Clip"]
            #expect(try await binary.run(list + other).output == "https://example.com/shops\r\n")
            let located = list + other + ["--locations", "--template"]
            let fits = try await binary.run(located + ["https://example.com/shops/{identifier}"])
            #expect(
                fits.output == """
                    https://example.com/shops/restaurant_a\r
                    https://example.com/shops/restaurant_b\r\n
                    """, "\(fits.errors)")
            try await binary.succeed(
                "experience", "add", "--tenant", Installation.tenant, "--clip", "com.example.MyApp.Clip",
                "--url", "https://example.com/shops/restaurant_b", "--location", "restaurant_b")
            let mixed = try await binary.run(located + ["https://example.com/shops/{identifier}"])
            #expect(mixed.status == 1 && mixed.output.isEmpty)
            #expect(
                mixed.errors == """
                    row 2: the URL matches the advanced experience https://example.com/shops/restaurant_b, not \
                    https://example.com/shops: https://example.com/shops/restaurant_b
                    Error: nothing was written: 1 row cannot be App Clip Codes

                    """)
            // The option for a clip also applies to other formats.
            let printed = try await binary.run(["code", "export", "--format", "print"] + Self.tenant + other)
            #expect(printed.output.split(separator: "\r\n").count == 2, "\(printed.errors)")
        }
    }

    /// The command warns by the estimated size, or refuses with `--strict`. It also warns of leading zeros.
    @Test func exportWarnsOfURLsThatAreTooLong() async throws {
        try await Installation.lend { installation in
            let binary = installation.binary
            try await binary.succeed(
                "experience", "add", "--tenant", Installation.tenant, "--clip", "com.example.MyApp.Clip",
                "--url", "https://example.com/shops", "--identifier-rule", "query:in-restaurant")
            try await binary.succeed(
                "location", "import", "--tenant", Installation.tenant, "-",
                input: "identifier,name,latitude,longitude,radius\n007,Seven,1,2,100\n")
            let export =
                ["code", "export", "--format", "print", "--locations"] + Self.tenant
                + ["--template", "https://example.com/shops?in-restaurant={identifier}"]
            let warned = try await binary.run(export)
            #expect(warned.status == 0 && warned.output.split(separator: "\r\n").count == 4)
            let lines = warned.errors.split(separator: "\n").map(String.init)
            #expect(lines.count == 3, "\(warned.errors)")
            #expect(lines[0].hasPrefix("warning: row 2: too long for a code: about "))
            #expect(lines[2].hasPrefix("warning: 1 URL with leading zeros"))

            let strict = try await binary.run(export + ["--strict"])
            #expect(strict.status == 1 && strict.output.isEmpty)
            #expect(strict.errors.hasPrefix("row 2: too long for a code: about "))
            #expect(strict.errors.hasSuffix("nothing was written: 2 rows cannot be App Clip Codes\n"))

            let measured = try await binary.run(export + ["--strict", "--host-bits", "13"])
            #expect(measured.status == 0, "\(measured.errors)")
        }
    }

    /// A code can contain the short form of a demo link, but not the long form. [Apple]
    @Test func shortDemoLinkIsListed() async throws {
        try await Installation.lend { installation in
            let binary = installation.binary
            for link in ["https://appclip.apple.com/x7k", "https://appclip.apple.com/x7k/y"] {
                try await binary.succeed(
                    "experience", "add", "--tenant", Installation.tenant, "--clip", "com.example.MyApp.Clip",
                    "--kind", "demo", "--url", link)
            }
            let printed = try await binary.run(["code", "export", "--format", "print"] + Self.tenant)
            #expect(
                printed.output.hasPrefix(
                    "SVG File Name,URL\r\nappclip.apple.com_x7k.svg,https://appclip.apple.com/x7k\r\n"),
                "\(printed.errors)")
            #expect(printed.output.split(separator: "\r\n").count == 4)

            let rows = try await binary.succeed(
                "experience", "lint", "--launches", "--format", "json", "--tenant", Installation.tenant)
            let launches = try JSONDecoder().decode([[String: LaunchCell]].self, from: Data(rows.output.utf8))
            #expect(
                launches.map { [$0["kind"]?.text, $0["app_clip_code"]?.text] } == [
                    ["demo", "yes"], ["demo", "no"], ["advanced", "yes"], ["advanced", "yes"],
                ])
        }
    }

    private enum LaunchCell: Decodable {
        case text(String)
        case flag(Bool)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            self =
                try (try? container.decode(Bool.self)).map(Self.flag) ?? .text(container.decode(String.self))
        }

        var text: String? { if case .text(let text) = self { text } else { nil } }
    }

    @Test func qrCodesAreExportedAsFolderOfImages() async throws {
        try await Installation.lend { installation in
            let binary = installation.binary
            let parent = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: false)
            defer { try? FileManager.default.removeItem(at: parent) }
            let folder = parent.appending(path: "codes")
            let export = ["code", "export", "--format", "qr", "--output", folder.path()] + Self.tenant
            func made() throws -> [String: String] {
                let names = try FileManager.default.contentsOfDirectory(atPath: folder.path())
                return try Dictionary(
                    uniqueKeysWithValues: names.map {
                        (
                            $0,
                            String(decoding: try Data(contentsOf: folder.appending(path: $0)), as: UTF8.self)
                        )
                    })
            }

            // This URL does not fit into an App Clip Code.
            try await binary.succeed(
                "experience", "add", "--tenant", Installation.tenant, "--clip", "com.example.MyApp.Clip",
                "--kind", "default", "--url", "https://shop1.example/~a")
            let outcome = try await binary.run(export)
            #expect(outcome.status == 0 && outcome.output.isEmpty)
            #expect(outcome.errors == "3 codes in \(folder.path())\n")
            #expect(
                try made() == [
                    "example.com_restaurants_restaurant%5Fa.svg":
                        QRSymbol("https://example.com/restaurants/restaurant_a").svg,
                    "example.com_restaurants_restaurant%5Fb.svg":
                        QRSymbol("https://example.com/restaurants/restaurant_b").svg,
                    "shop1.example_%7Ea.svg": QRSymbol("https://shop1.example/~a").svg,
                ])

            let again = try await binary.run(export)
            #expect(again.status == 1 && again.errors == "Error: \(folder.path()) already exists\n")
            #expect(try made().count == 3)
            try FileManager.default.removeItem(at: folder)

            try await binary.succeed(
                "experience", "add", "--tenant", Installation.tenant, "--clip", "com.example.MyApp.Clip",
                "--url", "https://appclip.example.com/shop", "--identifier-rule", "query:p")
            let template = "https://appclip.example.com/shop?p={identifier}"
            let located = try await binary.run(export + ["--locations", "--template", template])
            #expect(located.status == 0, "\(located.errors)")
            #expect(
                try made()["restaurant%5Fa.svg"]
                    == QRSymbol("https://appclip.example.com/shop?p=restaurant_a").svg)
            try FileManager.default.removeItem(at: folder)

            // Names of locations are escaped.
            let name = #"</title><script>alert("1")</script>"#
            try await binary.succeed(
                "location", "update", "--tenant", Installation.tenant, "restaurant_b", "--name", name)
            let sheet = try await binary.run(
                ["code", "export", "--format", "qr", "--sheet", "--locations", "--template", template]
                    + Self.tenant)
            #expect(sheet.status == 0, "\(sheet.errors)")
            #expect(sheet.output.hasPrefix("<!doctype html><html lang=\"en\">"))
            #expect(sheet.output.contains("<title>QR codes</title>"))
            #expect(sheet.output.matches(of: /<figure>/).count == 2 && !sheet.output.contains("<script"))
            for (place, label) in [
                ("restaurant_a", "Restaurant A"),
                ("restaurant_b", "&lt;/title&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;"),
            ] {
                let url = "https://appclip.example.com/shop?p=\(place)"
                #expect(
                    sheet.output.contains(
                        """
                        <path d="\(try QRSymbol(url).path)"></path></svg><figcaption><strong><bdi>\(label)</bdi>\
                        </strong><bdi>\(url)</bdi></figcaption></figure>
                        """), "\(place)")
            }

            let long = "\(template)&q=\(String(repeating: "x", count: 300))"
            let refused = try await binary.run(export + ["--locations", "--template", long])
            #expect(refused.status == 1)
            #expect(
                refused.errors.hasPrefix(
                    "row 1: the text has 350 bytes; a QR code has at most 331\n"), "\(refused.errors)")
            #expect(refused.errors.hasSuffix("nothing was written: 2 rows cannot be QR codes\n"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: parent.path()).isEmpty)

            for arguments in [
                ["code", "export", "--format", "qr"] + Self.tenant, export + ["--color-index", "1"],
                ["code", "export", "--format", "print", "--sheet"] + Self.tenant,
            ] {
                #expect(try await binary.run(arguments).status == 64, "\(arguments)")
            }
        }
    }

    /// A file for a printing service has at most 10,000 rows. [Apple] The other lists have no such limit.
    @Test func listForPrintIsSplitIntoNumberedFiles() async throws {
        try await Installation.lend { installation in
            let binary = installation.binary
            let rows = (1...9_999).map { "p\($0),Place,1,2,100" }
            try await binary.succeed(
                "location", "import", "--tenant", Installation.tenant, "-",
                input: "identifier,name,latitude,longitude,radius\n" + rows.joined(separator: "\n"))
            try await binary.succeed(
                "experience", "add", "--tenant", Installation.tenant, "--clip", "com.example.MyApp.Clip",
                "--url", "https://example.com/shops", "--identifier-rule", "path:1")
            let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            defer { try? FileManager.default.removeItem(at: folder) }
            func names() throws -> [String] {
                try FileManager.default.contentsOfDirectory(atPath: folder.path()).sorted()
            }
            let locations =
                ["--locations", "--template", "https://example.com/shops/{identifier}"] + Self.tenant
            let export = ["code", "export", "--format", "print"] + locations
            let output = ["--output", folder.appending(path: "codes.csv").path()]

            let nowhere = try await binary.run(export)
            #expect(nowhere.status == 1 && nowhere.output.isEmpty)
            #expect(
                nowhere.errors == "Error: --output: the list takes 2 files; name them, such as codes.csv\n")

            // If one of the files exists, no file is written.
            let second = folder.appending(path: "codes-0002.csv")
            try Data("mine".utf8).write(to: second)
            let refused = try await binary.run(export + output)
            #expect(refused.status == 1 && refused.errors == "Error: \(second.path()) already exists\n")
            #expect(try names() == ["codes-0002.csv"])
            #expect(try Data(contentsOf: second) == Data("mine".utf8))
            try FileManager.default.removeItem(at: second)

            let written = try await binary.run(export + output)
            #expect(written.status == 0 && written.output.isEmpty)
            let first = folder.appending(path: "codes-0001.csv")
            #expect(written.errors == "10001 codes in \(first.path()) to \(second.path())\n")
            #expect(try names() == ["codes-0001.csv", "codes-0002.csv"])
            let lines = try [first, second].map {
                String(decoding: try Data(contentsOf: $0), as: UTF8.self).split(separator: "\r\n")
            }
            #expect(lines.map(\.count) == [10_001, 2])
            #expect(lines.allSatisfy { $0[0] == "SVG File Name,URL" })
            #expect(Set(lines.flatMap { $0.dropFirst() }).count == 10_001)

            for format in ["generator", "app-store-connect"] {
                let list = try await binary.run(
                    ["code", "export", "--format", format, "--experience", "https://example.com/shops"]
                        + locations)
                #expect(list.status == 0, "\(list.errors.prefix(200))")
                #expect(
                    list.output.split(separator: "\r\n").count == (format == "generator" ? 10_002 : 10_001))
            }
        }
    }
}
