import { useState } from 'react'
import { toast } from '../feedback/toast.ts'
import { Button } from './button.tsx'

/** Copies a text and says so. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => toast(`${what} copied.`),
      () => toast(`${what} could not be copied. Show it and copy it by hand.`, 'bad'),
    )
  }
  return (
    <Button onClick={copy} aria-label={`Copy ${what}`}>
      Copy
    </Button>
  )
}

/** A text that stays hidden until it is asked for, and can be copied unseen. */
export function Secret({ text, what }: { text: string; what: string }) {
  const [isShown, setShown] = useState(false)
  return (
    <span className="secret">
      <code>{isShown ? text : '•'.repeat(24)}</code>
      <span className="secret-actions">
        <Button onClick={() => setShown(!isShown)} aria-label={`${isShown ? 'Hide' : 'Show'} ${what}`}>
          {isShown ? 'Hide' : 'Show'}
        </Button>
        <CopyButton text={text} what={what} />
      </span>
    </span>
  )
}
