import Formats
import Foundation
import Testing

@Suite struct LogFormatTests {
    private static let date = Date(timeIntervalSince1970: 1_795_690_631.123)
    /// Values and names that a careless writer spoils, in order of their names.
    private static let metadata = [
        (name: "a b=c", value: "1"), (name: "empty", value: ""),
        (name: "error", value: "server at \"::1\", port 5432"),
        (name: "level", value: "x=y"), (name: "lines", value: "one\ntwo\u{7}"),
        (name: "path", value: "C:\\é"),
        (name: "tenant", value: "any"),
    ]

    private static func line(_ format: LogFormat) -> String {
        format.line(date, "warning", "doorstep", "Doorstep", "it \"fails\"\nagain", metadata)
    }

    /// Runs a program with a line as its standard input, and returns its output.
    private static func output(of words: [String], reading line: String) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = words
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        input.fileHandleForWriting.write(Data((line + "\n").utf8))
        input.fileHandleForWriting.closeFile()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(line)")
        return String(decoding: data, as: UTF8.self)
    }

    @Test func jqReadsJSONLine() throws {
        let filter = "[.time, .level, .message, .error, .level_, .lines, .path, .empty, (.|length)]"
        let read = try Self.output(of: ["jq", "-c", filter], reading: Self.line(.json))
        #expect(
            read
                == #"["2026-11-26T10:57:11.123Z","warning","it \"fails\"\nagain","server at \"::1\", port 5432","#
                + #""x=y","one\ntwo\u0007","C:\\é","",12]"# + "\n")
    }

    /// A reader of logfmt that knows its grammar alone: names, and values that are bare or JSON strings.
    @Test func logfmtLineParses() throws {
        let reader = """
            from json import dumps, loads
            from re import compile
            from sys import stdin
            line, position, members = stdin.read()[:-1], 0, []
            assert "\\n" not in line
            pattern = compile(r'([^\\s="]+)=("(?:[^"\\\\]|\\\\.)*"|[^\\s="]*)(?: |$)')
            while position < len(line):
                match = pattern.match(line, position)
                assert match, line[position:]
                name, value = match.groups()
                members.append([name, loads(value) if value.startswith('"') else value])
                position = match.end()
            print(dumps(members, separators=(",", ":"), ensure_ascii=False))
            """
        let read = try Self.output(of: ["python3", "-c", reader], reading: Self.line(.logfmt))
        #expect(
            read == #"[["time","2026-11-26T10:57:11.123Z"],["level","warning"],["logger","doorstep"],"#
                + #"["source","Doorstep"],["msg","it \"fails\"\nagain"],["a_b_c","1"],["empty",""],"#
                + #"["error","server at \"::1\", port 5432"],["level_","x=y"],["lines","one\ntwo\u0007"],"#
                + #"["path","C:\\é"],["tenant","any"]]"# + "\n")
    }

    @Test func textLineQuotesValues() {
        let line = LogFormat.text.line(
            Self.date, "warning", "doorstep", "Doorstep", "webhooks are not served yet",
            [("error", "no connection"), ("tenant", "any")])
        #expect(
            line
                == "2026-11-26T10:57:11.123Z warning doorstep: error=\"no connection\" tenant=any [Doorstep] "
                + "webhooks are not served yet")
        #expect(!Self.line(.text).contains("\n"))
    }

    @Test func formatDependsOnTerminal() {
        #expect(LogFormat.standard(isTerminal: true) == .text)
        #expect(LogFormat.standard(isTerminal: false) == .json)
    }
}
