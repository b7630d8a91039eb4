/// The type of a parameter or a column, by its object identifier in the server's catalogue.
///
/// The built-in identifiers never change between releases (PostgreSQL, `pg_type.dat`).
public struct PostgreSQLType: Sendable, Hashable {
    public let objectID: UInt32

    public init(objectID: UInt32) {
        self.objectID = objectID
    }

    /// The server infers the type from the position of the parameter.
    public static let inferred = PostgreSQLType(objectID: 0)

    public static let bool = PostgreSQLType(objectID: 16)
    public static let bytea = PostgreSQLType(objectID: 17)
    public static let char = PostgreSQLType(objectID: 18)
    public static let name = PostgreSQLType(objectID: 19)
    public static let int8 = PostgreSQLType(objectID: 20)
    public static let int2 = PostgreSQLType(objectID: 21)
    public static let int4 = PostgreSQLType(objectID: 23)
    public static let text = PostgreSQLType(objectID: 25)
    public static let json = PostgreSQLType(objectID: 114)
    public static let float4 = PostgreSQLType(objectID: 700)
    public static let float8 = PostgreSQLType(objectID: 701)
    public static let unknown = PostgreSQLType(objectID: 705)
    public static let bpchar = PostgreSQLType(objectID: 1042)
    public static let varchar = PostgreSQLType(objectID: 1043)
    public static let timestamptz = PostgreSQLType(objectID: 1184)
    public static let uuid = PostgreSQLType(objectID: 2950)
    public static let jsonb = PostgreSQLType(objectID: 3802)

    public static let boolArray = PostgreSQLType(objectID: 1000)
    public static let int2Array = PostgreSQLType(objectID: 1005)
    public static let int4Array = PostgreSQLType(objectID: 1007)
    public static let textArray = PostgreSQLType(objectID: 1009)
    public static let varcharArray = PostgreSQLType(objectID: 1015)
    public static let int8Array = PostgreSQLType(objectID: 1016)
    public static let float8Array = PostgreSQLType(objectID: 1022)
    public static let timestamptzArray = PostgreSQLType(objectID: 1185)
    public static let uuidArray = PostgreSQLType(objectID: 2951)
}
