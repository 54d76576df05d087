import { browserIndexer, type Exchange } from './browser-indexer.ts'
import { ToolError } from './tool.ts'
import type { Tool } from './tools.ts'

/** What a tool would say, and what it asked to find out. */
export type Checked = {
  readonly exchanges: readonly Exchange[]
  /** What it found; undefined where it failed. */
  readonly releases: number | undefined
  /** In the tool's own words. */
  readonly message: string | undefined
}

/** Lets a tool test the API. Only what it would tell its user is an outcome; anything else is a fault of this page. */
export async function replay(tool: Tool, passkey: string): Promise<Checked> {
  const exchanges: Exchange[] = []
  const indexer = browserIndexer(passkey, tool.path, (exchange) => exchanges.push(exchange))
  try {
    const releases = await tool.test(indexer)
    return { exchanges, releases: releases.length, message: undefined }
  } catch (error) {
    if (error instanceof ToolError) return { exchanges, releases: undefined, message: error.message }
    if (error instanceof TypeError) throw new Error('the server was not reached.', { cause: error })
    throw error
  }
}
