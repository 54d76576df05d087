import type { ComponentProps } from 'react'

/** A busy button does nothing. */
export function Button({
  kind = 'plain',
  isBusy = false,
  type = 'button',
  className = '',
  onClick,
  ...rest
}: ComponentProps<'button'> & { kind?: 'plain' | 'main' | 'danger'; isBusy?: boolean }) {
  return (
    <button
      {...rest}
      type={type}
      className={`button ${className}`}
      data-kind={kind}
      aria-busy={isBusy}
      aria-disabled={isBusy || rest['aria-disabled']}
      onClick={isBusy ? (event) => event.preventDefault() : onClick}
    />
  )
}
