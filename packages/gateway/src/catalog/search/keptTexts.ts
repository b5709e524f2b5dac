import type { SearchedTool } from './toolSearch.ts';
import { readToolText, type ToolText } from './toolText.ts';

/** The words of tools, read once. */
export interface KeptTexts {
  textOf(tool: SearchedTool): ToolText;
}

interface OfServer {
  readonly texts: WeakMap<object, ToolText>;
  bytes: number;
}

const BYTES_OF_SERVER = 1_000;
/** How much is left when there was no room: to look for the fullest with every text would cost more than the texts. */
const LEFT = 3 / 4;

/**
 * Remembered for as long as a tool's definition is, within `mostBytes` of all. Then they go of the server that has the most of them: one
 * that shows endless tools, or others to everybody, is read anew each time, and nobody else is. What went with its definition
 * still counts, until its server is the fullest.
 */
export function createKeptTexts(mostBytes: number): KeptTexts {
  const servers = new Map<string, OfServer>();
  let total = 0;

  function makeRoom(): void {
    const fullest = [...servers].sort(([, a], [, b]) => b.bytes - a.bytes);
    for (const [id, { bytes }] of fullest) {
      if (total <= mostBytes * LEFT) return;
      servers.delete(id);
      total -= bytes;
    }
  }

  function ofServer(id: string): OfServer {
    const known = servers.get(id);
    if (known) return known;
    const made: OfServer = { texts: new WeakMap(), bytes: BYTES_OF_SERVER };
    servers.set(id, made);
    total += made.bytes;
    return made;
  }

  return {
    textOf({ server, tool }) {
      const known = servers.get(server.id)?.texts.get(tool.definition);
      if (known) return known;
      const text = readToolText(tool, server.name);
      if (total + text.bytes + BYTES_OF_SERVER > mostBytes) makeRoom();
      const own = ofServer(server.id);
      own.texts.set(tool.definition, text);
      own.bytes += text.bytes;
      total += text.bytes;
      return text;
    },
  };
}
