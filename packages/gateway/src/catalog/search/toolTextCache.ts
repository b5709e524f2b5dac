import type { SearchedTool } from './toolSearch.ts';
import { extractToolText, type ToolText } from './toolText.ts';

/** The words of tools, read once. */
export interface ToolTextCache {
  textOf(tool: SearchedTool): ToolText;
}

interface ServerTexts {
  readonly texts: WeakMap<object, ToolText>;
  bytes: number;
}

const BYTES_PER_SERVER = 1_000;
/** How much is left when there was no room: to look for the fullest with every text would cost more than the texts. */
const RETAINED_SHARE = 3 / 4;

/**
 * Remembered for as long as a tool's definition is, within `maxBytes` of all. Then they go of the server that has the most of them: one
 * that shows endless tools, or others to everybody, is read anew each time, and nobody else is. What went with its definition
 * still counts, until its server is the fullest.
 */
export function createToolTextCache(maxBytes: number): ToolTextCache {
  const servers = new Map<string, ServerTexts>();
  let totalBytes = 0;

  function evictFullest(): void {
    const largestFirst = [...servers].sort(([, a], [, b]) => b.bytes - a.bytes);
    for (const [id, { bytes }] of largestFirst) {
      if (totalBytes <= maxBytes * RETAINED_SHARE) return;
      servers.delete(id);
      totalBytes -= bytes;
    }
  }

  function getOrCreateServer(id: string): ServerTexts {
    const known = servers.get(id);
    if (known) return known;
    const created: ServerTexts = { texts: new WeakMap(), bytes: BYTES_PER_SERVER };
    servers.set(id, created);
    totalBytes += created.bytes;
    return created;
  }

  return {
    textOf({ server, tool }) {
      const known = servers.get(server.id)?.texts.get(tool.definition);
      if (known) return known;
      const text = extractToolText(tool, server.name);
      if (totalBytes + text.bytes + BYTES_PER_SERVER > maxBytes) evictFullest();
      const serverTexts = getOrCreateServer(server.id);
      serverTexts.texts.set(tool.definition, text);
      serverTexts.bytes += text.bytes;
      totalBytes += text.bytes;
      return text;
    },
  };
}
