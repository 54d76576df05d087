import type { ReactNode } from 'react'

const ID = 'account-menu'

/** The menu at the end of the bar. `children` receive the function that closes it. */
export function AccountMenu({ label, children }: { label: string; children: (close: () => void) => ReactNode }) {
  return (
    <div className="account">
      <button type="button" className="account-button" popoverTarget={ID}>
        <span className="avatar" aria-hidden="true">
          {label.slice(0, 1)}
        </span>
        <span className="account-name">{label}</span>
        <span aria-hidden="true">▾</span>
      </button>
      <div id={ID} popover="auto" className="account-menu">
        {children(() => document.getElementById(ID)?.hidePopover())}
      </div>
    </div>
  )
}
