import ArgumentParser
import Formats
import Foundation
import Notifications
import OutboundHTTP
import ServerClient
import TenantSites

extension WebhookCommand {
    struct Listen: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "listen",
            abstract: "Print the tenant's events as they happen, and forward them to a URL.",
            discussion: """
                The command asks the server for events, so that your machine needs no public address and the tenant \
                no webhook. Each listener receives all events, each once, also if the server restarts meanwhile. \
                With --forward-to, each event is sent once, signed like a webhook message; a failed request is \
                printed and not repeated. The secret is in --secret-file, or is made and printed.

                Example: doorstep webhook listen --forward-to http://localhost:3000/hooks
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Option(help: "URL that receives the events: https; http only for this machine.") var forwardTo:
            WebhookURL?
        @Option(help: "File with the secret that signs forwarded events (whsec_…).") var secretFile: String?
        @Option(name: .customLong("event"), help: "Only this event; can be repeated. (default: all)")
        var events: [WebhookEvent] = []
        @Option(help: "Continue after this position, which the command prints at its end.") var after: String?
        @Option(help: "End after this number of events. (default: never)") var limit: Int?

        func validate() throws {
            guard limit ?? 1 > 0 else { throw ValidationError("--limit must be 1 or more") }
            guard after.map({ EventPosition($0) != nil }) ?? true else {
                throw ValidationError("--after must be a position that 'webhook listen' printed")
            }
            guard secretFile == nil || forwardTo != nil else {
                throw ValidationError("--secret-file requires --forward-to")
            }
        }

        func run() async throws {
            // The user of the command decides where it connects to.
            let everywhere = ["0.0.0.0/0", "::/0"].compactMap { AddressRange($0) }
            let receiver = try self.receiver()
            try await OutboundClient.withClient(OutboundClient.Settings(allowed: everywhere)) { client in
                let sender = StandardWebhookSender(client)
                try await tenant.withWebhookAPI { api in try await listen(api, sender, receiver) }
            }
        }

        private func receiver() throws -> Webhook? {
            guard let forwardTo else { return nil }
            guard let secretFile else {
                let secret = WebhookSecret.generate()
                output.note("Events are signed with the secret \(secret.text)")
                return Webhook(url: forwardTo, secret: secret)
            }
            guard let text = try? String(contentsOfFile: secretFile, encoding: .utf8) else {
                throw CommandError.unreadableFile(secretFile)
            }
            guard let secret = WebhookSecret(text: text.trimmingCharacters(in: .whitespacesAndNewlines))
            else {
                throw ValidationError(
                    "\(secretFile) must contain a secret: whsec_ and Base64 of 24 to 64 bytes")
            }
            return Webhook(url: forwardTo, secret: secret)
        }

        private func listen(
            _ api: APIConnection, _ sender: StandardWebhookSender, _ receiver: Webhook?
        ) async throws {
            var position = after
            var (count, hasConnected, isInterrupted) = (0, false, false)
            while limit.map({ count < $0 }) ?? true {
                let start = ContinuousClock.now
                var query = [("wait", "25"), ("limit", "\(min(limit.map { $0 - count } ?? 100, 100))")]
                if let position { query.append(("after", position)) }
                let page: JSONObject
                do {
                    page = try await api.read("/v1/events", query)
                } catch let error as ServerError where hasConnected && error.passes {
                    if !isInterrupted { output.note("\(error); trying again") }
                    isInterrupted = true
                    try await Task.sleep(for: .seconds(1))
                    continue
                }
                if !hasConnected || isInterrupted { output.note("Listening for events") }
                (hasConnected, isInterrupted) = (true, false)
                if page["missed"] == true { output.note("Events may be missing here") }
                let bodies = page["data"]?.arrayValue?.compactMap(\.objectValue) ?? []
                for body in bodies where isWanted(body) {
                    count += 1
                    try await show(body, sender, receiver)
                }
                // A server that shuts down responds without waiting.
                let isEarly = bodies.isEmpty && position != nil && start.duration(to: .now) < .seconds(1)
                if isEarly { try await Task.sleep(for: .seconds(1)) }
                position = page["next"]?.stringValue ?? position
            }
            if let position { output.note("Continue with --after \(position)") }
        }

        private func isWanted(_ body: JSONObject) -> Bool {
            events.isEmpty || events.contains { body["type"] == .string($0.rawValue) }
        }

        private func show(
            _ body: JSONObject, _ sender: StandardWebhookSender, _ receiver: Webhook?
        ) async throws {
            let (bytes, id) = (JSONValue.object(body).serialized(), body["id"]?.stringValue ?? "")
            var line = String(decoding: bytes, as: UTF8.self)
            if output.format == .table {
                let (time, type) = (body["timestamp"]?.stringValue ?? "", body["type"]?.stringValue ?? "")
                line = "\(time) \(type) \(id)\n\(line)"
            }
            // Written without a buffer, so that a pipe gets each line at once.
            FileHandle.standardOutput.write(Data((line + "\n").utf8))
            guard let receiver, let id = UUID(text: id) else { return }
            let message = WebhookMessage(id: id, body: bytes, attempt: 1)
            let reply = await sender.send(message, to: receiver, at: Date()).reply
            if !reply.isTaken || output.format == .table { output.note("\(receiver.url): \(reply)") }
        }
    }
}

extension ServerError {
    /// Whether the same request may succeed later: the server restarts, or is overloaded.
    fileprivate var passes: Bool {
        switch self {
        case .unreached: true
        case .refused(let problem): ["unavailable", "rate_limited", "internal_error"].contains(problem.code)
        case .unexpected(let status): (502...504).contains(status)
        case .invalidURL, .insecureURL, .invalidKey, .contended: false
        }
    }
}
