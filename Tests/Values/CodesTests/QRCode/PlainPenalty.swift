@testable import Codes

/// The penalty of a symbol, module by module as the standard's table 11 words it.
enum PlainPenalty {
    static func points(of grid: ModuleGrid) -> Int {
        let all = 0..<grid.size
        let rows = all.map { y in all.map { grid[$0, y] } }
        let columns = all.map { x in all.map { grid[x, $0] } }
        var points = 0
        for line in rows + columns {
            points += runs(line) + finders(line)
        }
        for y in all.dropLast() {
            for x in all.dropLast() {
                let square = [grid[x, y], grid[x + 1, y], grid[x, y + 1], grid[x + 1, y + 1]]
                if Set(square).count == 1 { points += 3 }
            }
        }
        let dark = rows.joined().count { $0 }
        let percent = Double(dark) * 100 / Double(grid.size * grid.size)
        return points + Int(abs(percent - 50) / 5) * 10
    }

    private static func runs(_ line: [Bool]) -> Int {
        var (points, length) = (0, 0)
        for index in line.indices {
            length = index > 0 && line[index] == line[index - 1] ? length + 1 : 1
            if length == 5 { points += 3 } else if length > 5 { points += 1 }
        }
        return points
    }

    private static func finders(_ line: [Bool]) -> Int {
        let finder = [true, false, true, true, true, false, true]
        let isLight = { (index: Int) in !line.indices.contains(index) || !line[index] }
        var (points, index) = (0, 0)
        while index + 7 <= line.count {
            let isFramed =
                (1...4).allSatisfy { isLight(index - $0) } || (7...10).allSatisfy { isLight(index + $0) }
            if Array(line[index..<index + 7]) == finder, isFramed {
                points += 40
                index += 7
            } else {
                index += 1
            }
        }
        return points
    }
}
