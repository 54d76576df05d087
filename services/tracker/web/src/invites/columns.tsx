import { formatExactTime } from '@vault-and-tracker/web-kit/format'
import type { Column } from '@vault-and-tracker/web-kit/table'
import type { ComponentProps } from 'react'
import type { Invite } from '../api/client.ts'
import { TakeBackInvite } from './take-back-invite.tsx'

/** When an invite was made, until when it is valid, and taking it back while nobody used it. @param takeBack how that is done */
export function inviteColumns(
  takeBack: Omit<ComponentProps<typeof TakeBackInvite>, 'invite'>,
): readonly Column<Invite>[] {
  return [
    { key: 'created', head: 'Made', align: 'end', cell: ({ created }) => formatExactTime(created) },
    { key: 'expires', head: 'Valid until', align: 'end', cell: ({ expires }) => formatExactTime(expires) },
    {
      key: 'take-back',
      head: 'Take back',
      isEvident: true,
      cell: (invite) => invite.used === null && <TakeBackInvite invite={invite} {...takeBack} />,
    },
  ]
}
