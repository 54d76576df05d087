import { type ReactNode, useRef } from 'react'

const ID = 'account-menu'

/** The menu at the end of the bar. `children` receive the function that closes it. */
export function AccountMenu({ label, children }: { label: string; children: (close: () => void) => ReactNode }) {
  const menu = useRef<HTMLDivElement>(null)
  return (
    <div className="account">
      <button type="button" className="account-button" popoverTarget={ID}>
        {label}
        <span aria-hidden="true">▾</span>
      </button>
      <div ref={menu} id={ID} popover="auto" className="account-menu">
        {children(() => menu.current?.hidePopover())}
      </div>
    </div>
  )
}
