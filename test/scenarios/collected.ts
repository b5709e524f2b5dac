import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { collectionNames } from '@behalf/gateway/ports';
import { systemClock as clock, systemRandom as random } from '@behalf/kernel';
import { openPrimary } from '@behalf/stores/open';
import type { InProcessGateway } from './inProcess.ts';

/** Something that came out of the gateway, and from where. */
export interface Piece {
  readonly from: string;
  readonly text: string;
}

/** What may be in an answer although it is a secret: it was made for the one who gets it. */
export interface Rightful {
  /** Of the body of an answer that is none of an error: what is left without it. */
  readonly without?: (body: string) => string;
  readonly cookie?: boolean;
}

/** Everything a gateway answered, wrote or kept. */
export function createCollected(gateway: InProcessGateway) {
  const answers: Piece[] = [];

  /** Whole, with the headers; without what is rightfully there. */
  async function keep(asked: string, response: Response, rightful: Rightful = {}): Promise<string> {
    const body = await response.text();
    const headers = [...response.headers].filter(([name]) => !(rightful.cookie && name === 'set-cookie'));
    const shown = rightful.without && response.ok ? rightful.without(body) : body;
    answers.push({
      from: `the answer ${response.status} to ${asked}`,
      text: `${JSON.stringify(headers)}\n${shown}`,
    });
    return body;
  }

  /** Deeper than a logger looks: what is hidden in a cause would be printed one day. */
  const logLines = (): Piece[] =>
    gateway.logged.map(({ event, fields }) => ({
      from: `the log line "${event}"`,
      text: `${event} ${inspect(fields, { depth: Infinity, maxStringLength: Infinity, breakLength: Infinity })}`,
    }));

  async function records(): Promise<Piece[]> {
    const store = await openPrimary({ dataDir: gateway.dataDir }, { clock, random });
    try {
      const pieces: Piece[] = [];
      for (const name of collectionNames) {
        const page = await store.raw.page(name, null, 10_000);
        pieces.push(
          ...page.map((record) => ({ from: `the collection ${name}`, text: JSON.stringify(record) })),
        );
      }
      return pieces;
    } finally {
      await store.close();
    }
  }

  /** Also what no collection shows: caches, counters, and pages that were given back. */
  async function files(): Promise<Piece[]> {
    const names = (await readdir(gateway.dataDir)).filter((name) => name.startsWith('behalf.db'));
    return Promise.all(
      names.map(async (name) => ({
        from: `the file ${name}`,
        text: await readFile(join(gateway.dataDir, name), 'latin1'),
      })),
    );
  }

  return { keep, answers: (): readonly Piece[] => answers, logLines, records, files };
}
export type Collected = ReturnType<typeof createCollected>;
