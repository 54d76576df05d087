export { Details, type Fact, Facts } from './facts.tsx'
export { type Figure, Numbers } from './numbers.tsx'
export { Ranges, Tabs } from './tabs.tsx'
