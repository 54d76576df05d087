import { formatExactTime } from '@vault-and-tracker/web-kit/format'
import type { StaffNote } from '../../api/client.ts'

/** Texts by staff with their authors and times. */
export function StaffTexts({ texts, label }: { texts: readonly StaffNote[]; label?: string }) {
  return (
    <ul className="bullets" aria-label={label}>
      {texts.map(({ id, text, created, author }) => (
        <li key={id}>
          <p className="description">{text}</p>
          <p className="muted">
            {author.username}, <time dateTime={created}>{formatExactTime(created)}</time>
          </p>
        </li>
      ))}
    </ul>
  )
}
