import { formatExactTime } from '@vault-and-tracker/web-kit/format'
import type { Column } from '@vault-and-tracker/web-kit/table'
import type { ComponentProps } from 'react'
import type { Invite } from '../api/client.ts'
import { RevokeInvite } from './revoke-invite.tsx'

/** Columns for the dates of an invite, and for the button that revokes an unused one. */
export function inviteColumns(revoke: Omit<ComponentProps<typeof RevokeInvite>, 'invite'>): readonly Column<Invite>[] {
  return [
    { head: 'Created', align: 'end', cell: ({ created }) => formatExactTime(created) },
    { head: 'Expires', align: 'end', cell: ({ expires }) => formatExactTime(expires) },
    {
      head: 'Action',
      isEvident: true,
      cell: (invite) => invite.used === null && <RevokeInvite invite={invite} {...revoke} />,
    },
  ]
}
