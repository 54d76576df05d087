export { type Column, type Order, Table } from './table.tsx'
