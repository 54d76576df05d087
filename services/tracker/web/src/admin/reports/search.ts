import { oneOf, pageIn, type RawSearch } from '@vault-and-tracker/web-kit/address'

/** The parameters of the address. Without a state, open reports are listed. */
export type ReportSearch = { readonly state?: 'resolved' | undefined; readonly page?: number | undefined }

export function readReportSearch(raw: RawSearch): ReportSearch {
  return { state: oneOf(raw, 'state', ['resolved'] as const), page: pageIn(raw) }
}
