import ArgumentParser
import Logging
import Platform

struct ServeAction: ServerAction {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve the HTTP API until SIGTERM or SIGINT.",
        discussion: """
            The server responds to lookups from memory. It reads all tenants' catalogues at the start and follows \
            the database within a second. While the database is unavailable, it uses its last data. It finishes \
            current requests before it ends. The database must be migrated; DATABASE_URL's login must be a member of \
            doorstep_app, doorstep_router and doorstep_manager, and of nothing more.

            Run 'doorstep settings' for all settings. Two are in the environment only: DOORSTEP_SIGNING_SECRET, for \
            signed URLs and App Attest's tokens, and DOORSTEP_TOKEN_SECRET, which encrypts push tokens in the \
            database.

            Example: doorstep serve --database-url service=doorstep
            """)

    @Flag(
        help: """
            Start even if DOORSTEP_TOKEN_SECRET cannot decrypt any of the encrypted data in the database. Use this only \
            if the old secret is lost: the data that it encrypted is then lost too.
            """)
    var allowNewTokenSecret = false

    func run(_ command: ServerCommand<Self>) async throws {
        let log = try command.log()
        StandardErrorLog.bootstrap(log.level, log.format)
        let logger = Logger(label: "doorstep")
        // Invalid settings cause an error message before the log begins.
        let server = try command.server(logger: logger, allowsNewTokenSecret: allowNewTokenSecret)
        logger.notice("doorstep serve starts", metadata: BuildInfo.current.metadata)
        UnknownSettings().warn(logger)
        try await server.run(on: command.database)
    }
}
