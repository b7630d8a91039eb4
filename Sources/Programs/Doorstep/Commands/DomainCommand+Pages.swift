import Administration
import ArgumentParser
import Lookups

extension DomainCommand {
    struct Pages: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show people pages at a domain, or no longer.",
            discussion: """
                Once the domain is proved, the server answers with a page where an experience matches the URL: its card's \
                texts and image, the App Store, a QR code. The paths of the API keep precedence. Off is for domains of \
                which only the association file is led to the server.
                """)

        enum Switch: String, ExpressibleByArgument, CaseIterable {
            case on, off
        }

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "The domain.") var host: DomainName
        @Argument(help: "on or off.") var state: Switch
        @Flag(
            name: .customLong("redirect-short-codes"),
            help: """
                Lead from the URL of a short code on to the one that it stands for, where that one's host is proved by the \
                tenant too.
                """)
        var redirectsShortCodes = false

        func validate() throws {
            guard state == .on || !redirectsShortCodes else {
                throw ValidationError("--redirect-short-codes goes with on")
            }
        }

        private var pages: DomainPages {
            switch state {
            case .off: .off
            case .on: redirectsShortCodes ? .redirectingShortCodes : .on
            }
        }

        func run() async throws {
            let record = try await tenant.withItems(\.domains) { [pages] in
                try await $0.show(pages, at: host)
            }
            let line =
                switch record.pages {
                case .off: "No pages are shown at \(host)"
                case .on: "Pages are shown at \(host)"
                case .redirectingShortCodes: "Pages are shown at \(host), and short codes are redirected"
                }
            output.print(record.json, line: record.proof == nil ? "\(line), once it is proved" : line)
        }
    }
}
