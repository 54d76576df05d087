import { useBlocker } from '@tanstack/react-router'
import { type RefObject, useContext, useEffect, useMemo, useRef } from 'react'
import type { ApiError } from '../api/error.ts'
import { Discard } from '../feedback/dialog.tsx'
import { Drafts, pageDrafts } from './drafts.ts'

type Place = { readonly pathname: string; readonly search: Readonly<Record<string, unknown>> }

type Move = { readonly action: string; readonly current: Place; readonly next: Place }

/** Whether a form may disappear. Links that change other parameters than the tab keep it; Back may close its dialog. */
function isElsewhere({ action, current, next }: Move): boolean {
  const isLink = action === 'PUSH' || action === 'REPLACE'
  return !isLink || current.pathname !== next.pathname || current.search['tab'] !== next.search['tab']
}

/** Asks before the text of a form is lost, because the page, its tab, the document or a dialog is left. */
export function LeaveGuard({ form, error }: { form: RefObject<HTMLFormElement | null>; error: ApiError | null }) {
  const drafts = useContext(Drafts)
  const saved = useRef<string>(undefined)
  const sent = useRef<string>(undefined)
  const draft = useMemo(() => {
    const hasText = (): boolean => saved.current !== undefined && contentOf(form.current) !== saved.current
    const isDirty = (): boolean => hasText() && contentOf(form.current) !== sent.current
    return { isDirty, hasText, shouldBlockFn: (move: Move) => isElsewhere(move) && isDirty() }
  }, [form])
  useEffect(() => {
    drafts?.add(draft)
    pageDrafts.add(draft)
    return () => {
      drafts?.delete(draft)
      pageDrafts.delete(draft)
    }
  }, [drafts, draft])
  useEffect(() => {
    const element = form.current
    // Some fields receive their text after the form was shown, but all of them before someone edits them.
    const start = (): void => {
      saved.current ??= contentOf(element)
    }
    const send = (): void => {
      sent.current = contentOf(element)
    }
    if (element?.contains(document.activeElement) === true) start()
    element?.addEventListener('focusin', start)
    element?.addEventListener('submit', send)
    return () => {
      element?.removeEventListener('focusin', start)
      element?.removeEventListener('submit', send)
    }
  }, [form])
  // Text that was refused has not been saved.
  useEffect(() => {
    if (error !== null) sent.current = undefined
  }, [error])
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: draft.shouldBlockFn,
    enableBeforeUnload: draft.isDirty,
    withResolver: true,
  })
  return status === 'blocked' && <Discard onDiscard={proceed} onKeep={reset} />
}

function contentOf(form: HTMLFormElement | null): string {
  if (form === null) return ''
  return JSON.stringify(Array.from(new FormData(form).entries()).filter(([, value]) => typeof value === 'string'))
}
