import Administration
import ArgumentParser
import Lookups
import ServerClient

extension DomainCommand {
    struct Pages: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "pages",
            abstract: "Turn landing pages at a domain on or off.",
            discussion: """
                On a proved domain, the server responds with a page at URLs that match an experience: the card's \
                texts and image, the App Store, a QR code. The API's paths take precedence. Use off if only the \
                association file's path is routed to the server.

                Example: doorstep domain pages shop.example.com on
                """)

        enum Switch: String, ExpressibleByArgument, CaseIterable {
            case on, off
        }

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "Domain.") var host: DomainName
        @Argument(help: "on or off.") var state: Switch
        @Flag(
            name: .customLong("redirect-short-codes"),
            help: """
                Redirect a short code's URL to the URL that it stands for, if the tenant has proved that host too.
                """)
        var redirectsShortCodes = false

        func validate() throws {
            guard state == .on || !redirectsShortCodes else {
                throw ValidationError("--redirect-short-codes requires on")
            }
        }

        private var pages: DomainPages {
            switch state {
            case .off: .off
            case .on: redirectsShortCodes ? .redirectingShortCodes : .on
            }
        }

        func run() async throws {
            let record = try await tenant.withItems(DomainRecord.self) { [pages] in
                try await $0.update(host) { $0.showing(pages) }
            }
            let line =
                switch record.pages {
                case .off: "Landing pages at \(host) are off"
                case .on: "Landing pages at \(host) are on"
                case .redirectingShortCodes: "Landing pages at \(host) are on, and short codes are redirected"
                }
            output.print(record.json, line: record.proof == nil ? "\(line), once it is proved" : line)
        }
    }
}
