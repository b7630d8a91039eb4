import Administration
import PostgreSQL
import Tenancy

extension ShortCode: ImportedResource {
    static let relation = "short_codes"
    static let quota = QuotaKind.shortCodes
}
