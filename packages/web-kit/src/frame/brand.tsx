import { useStore } from '../start/store.ts'
import { brand } from './brand-store.ts'

/** The mark and the name of the site. */
export function Brand() {
  const { name, mark } = useStore(brand())
  return (
    <>
      <img className="brand-mark" src={mark} alt="" width={24} height={24} />
      <span className="brand-name">{name}</span>
    </>
  )
}
