import { useEffect } from 'react'
import { useStore } from '../start/store.ts'
import { brand } from './brand-store.ts'

export function usePageTitle(title: string): void {
  const { name } = useStore(brand())
  useEffect(() => {
    document.title = `${title} · ${name}`
  }, [title, name])
}
