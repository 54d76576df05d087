import { Link, Outlet } from '@tanstack/react-router'
import { Frame as KitFrame, NotFound as KitNotFound } from '@vault-and-tracker/web-kit/frame'
import { useStore } from '@vault-and-tracker/web-kit/start'
import type { ComponentType } from 'react'
import { ownerOf, session } from '../api/session.ts'
import { Bar } from './bar.tsx'

type Gates = {
  readonly SignIn: ComponentType<{ reason: string | undefined }>
  /** Asks to sign in again over a page with typed text. */
  readonly SignInAgain: ComponentType<{ reason: string | undefined }>
}

/** Makes the frame of all pages. Without a session, every address shows the sign-in form. */
export function createFrame({ SignIn, SignInAgain }: Gates) {
  return function Frame() {
    const current = useStore(session)
    const owner = ownerOf(current)
    return (
      <>
        <div className="console" data-hidden={!current.isOpen && owner !== undefined}>
          <KitFrame bar={owner && <Bar />} className="page stack">
            {owner ? <Outlet key={owner.actor} /> : <SignIn reason={current.isOpen ? undefined : current.reason} />}
          </KitFrame>
        </div>
        {!current.isOpen && owner && <SignInAgain reason={current.reason} />}
      </>
    )
  }
}

export function NotFound() {
  return (
    <KitNotFound
      reason="The project may have been deleted, or the address is incomplete."
      links={[<Link to="/projects">All projects</Link>, <Link to="/audit">Audit log</Link>]}
    />
  )
}
