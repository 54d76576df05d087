import { formatExactTime } from '@vault-and-tracker/web-kit/format'
import type { Column } from '@vault-and-tracker/web-kit/table'
import type { ComponentProps } from 'react'
import type { Invite } from '../api/client.ts'
import { RevokeInvite } from './revoke-invite.tsx'

/** When an invite was created and expires, and the button that revokes it while it is unused. */
export function inviteColumns(revoke: Omit<ComponentProps<typeof RevokeInvite>, 'invite'>): readonly Column<Invite>[] {
  return [
    { key: 'created', head: 'Created', align: 'end', cell: ({ created }) => formatExactTime(created) },
    { key: 'expires', head: 'Expires', align: 'end', cell: ({ expires }) => formatExactTime(expires) },
    {
      key: 'revoke',
      head: 'Action',
      isEvident: true,
      cell: (invite) => invite.used === null && <RevokeInvite invite={invite} {...revoke} />,
    },
  ]
}
