export { NoSuchPage, Pages, totalText } from './pages.tsx'
export { type Column, type Order, Table } from './table.tsx'
