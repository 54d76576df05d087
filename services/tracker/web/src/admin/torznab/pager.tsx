import { Link } from '@tanstack/react-router'
import { type Listed, Pages } from '@vault-and-tracker/web-kit/table'
import type { TorznabSearch } from './search.ts'

/** The way to the pages before and after. */
export function Pager({ search, list }: { search: TorznabSearch; list: Listed }) {
  return (
    <Pages
      list={list}
      link={(page, text) => (
        <Link to="/admin/torznab" search={{ ...search, page }} className="button">
          {text}
        </Link>
      )}
    />
  )
}
