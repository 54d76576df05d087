import { Link, Outlet } from '@tanstack/react-router'
import { Frame as KitFrame, NotFound as KitNotFound } from '@vault-and-tracker/web-kit/frame'
import { useStore } from '@vault-and-tracker/web-kit/start'
import type { ComponentType } from 'react'
import { session } from '../api/session.ts'
import { Bar } from './bar.tsx'

/** Makes the frame of all pages. Without a session, every address shows the sign-in form. */
export function createFrame(SignIn: ComponentType<{ reason: string | undefined }>) {
  return function Frame() {
    const current = useStore(session)
    return (
      <KitFrame bar={current.isOpen && <Bar />} className="page stack">
        {current.isOpen ? <Outlet /> : <SignIn reason={current.reason} />}
      </KitFrame>
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
