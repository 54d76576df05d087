import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import { lazyDialog } from '@vault-and-tracker/web-kit/feedback'
import { Frame as KitFrame, NotFound as KitNotFound } from '@vault-and-tracker/web-kit/frame'
import { useState } from 'react'
import { Bar } from './bar.tsx'
import { BARE } from './bare.ts'
import { RulesNotice } from './rules-notice.tsx'
import { useKeys } from './use-keys.ts'

/** Pages that show the rules themselves. */
const READING = new Set(['/rules', '/welcome'])
const KeyList = lazyDialog(async () => (await import('./key-list.tsx')).KeyList)

/** The frame of all pages. */
export function Frame() {
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const [showsKeys, setShowsKeys] = useState(false)
  useKeys(() => setShowsKeys(true))
  return (
    <>
      <KitFrame bar={!BARE.has(path) && <Bar onShowKeys={() => setShowsKeys(true)} />}>
        {!BARE.has(path) && !READING.has(path) && <RulesNotice />}
        <Outlet />
      </KitFrame>
      {showsKeys && <KeyList onClose={() => setShowsKeys(false)} />}
    </>
  )
}

export function NotFound() {
  return (
    <KitNotFound
      reason="The torrent may have been deleted, or the address is incomplete."
      links={[
        <Link to="/torrents">All torrents</Link>,
        <Link to="/upload">Upload torrent</Link>,
        <Link to="/me">Your account</Link>,
      ]}
    />
  )
}
